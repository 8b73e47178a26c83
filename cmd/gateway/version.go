package main

import (
	"fmt"
	"runtime/debug"
)

// versionCommand prints which build this is.
type versionCommand struct{}

// Run prints the version on one line.
func (versionCommand) Run(std stdio) error {
	_, err := fmt.Fprintln(std.out, "asyncgate", version())
	return err
}

// version is the module's version and, where the build knows it, the commit.
func version() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	text := build.Main.Version
	if text == "" {
		text = "(devel)"
	}
	for _, setting := range build.Settings {
		switch {
		case setting.Key == "vcs.revision":
			text += " " + setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			text += " modified"
		}
	}
	return text + " " + build.GoVersion
}
