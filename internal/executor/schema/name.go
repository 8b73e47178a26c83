package schema

import (
	"fmt"
	"strings"
)

// checkName refuses what is no name in GraphQL.
func checkName(s string) error {
	if s == "" || '0' <= s[0] && s[0] <= '9' || strings.ContainsFunc(s, notInName) {
		return fmt.Errorf("%q is no name", s)
	}
	return nil
}

func notInName(r rune) bool {
	return r != '_' && (r < '0' || '9' < r) && (r < 'A' || 'Z' < r) && (r < 'a' || 'z' < r)
}
