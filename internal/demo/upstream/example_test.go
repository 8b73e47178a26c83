package upstream_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"asyncgate/internal/demo/upstream"
)

func ExampleNew() {
	server := httptest.NewServer(upstream.New())
	defer server.Close()

	request, err := http.NewRequest(http.MethodPost, server.URL+"/graphql",
		strings.NewReader(`{"query": "{ me { id tenant roles } products(search: \"pen\") { sku ean } }"}`))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-User-Id", "ada")
	request.Header.Set("X-Tenant", "acme")
	request.Header.Set("X-Roles", "editor,viewer")
	response, err := server.Client().Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(os.Stdout, response.Body)
	// Output:
	// {"data":{"me":{"id":"ada","tenant":"acme","roles":["editor","viewer"]},"products":[{"sku":"PEN-01","ean":4012345678901}]}}
}
