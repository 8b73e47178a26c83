package config

import "testing"

func TestAnOriginIsAsBrowsersSendIt(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]bool{
		"https://app.example": true, "http://localhost:3000": true, "http://[::1]:3000": true, "*": true,
		"https://app.example:8443": true, "chrome-extension://abcdef": true,
		"": false, "null": false, "app.example": false, "//app.example": false, "https://": false, "https://:443": false,
		"https://app.example/": false, "https://app.example/path": false, "https://app.example?q": false,
		"https://ada@app.example": false, "https://App.example": false, "HTTPS://app.example": false,
		"https://app.example:443": false, "http://app.example:80": false, "https://*.example/": false,
	} {
		if got := validOrigin(origin); got != want {
			t.Errorf("%q: %v", origin, got)
		}
	}
}
