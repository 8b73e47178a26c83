package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Mistake is one thing wrong with a file. It never tells a value.
type Mistake struct {
	Line    int    // 1 where something is missing from the whole file
	Path    string // of the key, with dots; "" for the file itself
	Message string
}

// FileError is the error of Load and Parse: everything that is wrong with a
// file, by line.
type FileError struct {
	File     string
	Mistakes []Mistake
}

// Error tells each mistake on a line of its own: `gateway.yaml:12: path: message`.
func (e *FileError) Error() string {
	lines := make([]string, len(e.Mistakes))
	for i, mistake := range e.Mistakes {
		lines[i] = fmt.Sprintf("%s:%d: ", e.File, mistake.Line)
		if mistake.Path != "" {
			lines[i] += mistake.Path + ": "
		}
		lines[i] += mistake.Message
	}
	return strings.Join(lines, "\n")
}

// sorted returns list by line; mistakes of one line stay as they were found.
func sorted(list []Mistake) []Mistake {
	slices.SortStableFunc(list, func(a, b Mistake) int { return cmp.Compare(a.Line, b.Line) })
	return list
}
