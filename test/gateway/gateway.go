// Package gateway builds the gateway and runs it as a process, for tests that
// meet it as its users do.
package gateway

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// Build builds the gateway with the race detector in dir, and returns its path.
func Build(dir string) (string, error) { return build(dir, "-race") }

// BuildQuick builds it without, to be measured.
func BuildQuick(dir string) (string, error) { return build(dir, "-race=false") }

func build(dir, race string) (string, error) {
	binary := filepath.Join(dir, "gateway")
	build := exec.Command("go", "build", race, "-o", binary, "asyncgate/cmd/gateway")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the gateway: %w\n%s", err, output)
	}
	return binary, nil
}
