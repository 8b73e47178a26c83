package executor

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// maxMistakes bounds what one rule tells of a document. Fields that conflict
// are told in pairs: 20 KB of them made 200 MB of errors.
const maxMistakes = 100

// validationRules are gqlparser's, each bounded, and one mended: it evaluates
// literals, and so refuses an integer of more than 64 bits that stands for an
// ID, or in an input object for a custom scalar.
func validationRules() *rules.Rules {
	all := rules.NewDefaultRules()
	rule := rules.ValuesOfCorrectTypeRule
	all.RemoveRule(rule.Name)
	all.AddRule(rule.Name, func(observers *core.Events, addError core.AddErrFunc) {
		var at *ast.Value
		observers.OnValue(func(_ *core.Walker, value *ast.Value) { at = value }) // before the rule's own
		rule.RuleFunc(observers, func(options ...core.ErrorOption) {
			if !outOfRange(at, options) {
				addError(options...)
			}
		})
	})
	overlapping := rules.OverlappingFieldsCanBeMergedRule
	all.ReplaceRule(overlapping.Name, uncrowded(overlapping.RuleFunc))
	all.AddRule("FewAliases", fewAliases)
	for name, rule := range all.GetInner() {
		all.ReplaceRule(name, bounded(rule))
	}
	return all
}

// maxAliases bounds how often a document asks for a field under another name: a
// hundred times a large document or result is answer enough.
const maxAliases = 100

func fewAliases(observers *core.Events, addError core.AddErrFunc) {
	aliases := 0
	observers.OnField(func(_ *core.Walker, field *ast.Field) {
		if field.Alias == field.Name {
			return
		}
		if aliases++; aliases == maxAliases+1 {
			addError(core.Message("The document has more than %d aliases.", maxAliases), core.At(field.Position))
		}
	})
}

// maxNamesakes bounds how many fields of a document answer under one name. The
// rule about fields that overlap compares all of them with each other: 10,000
// took seconds.
const maxNamesakes = 2000

// uncrowded is that rule for documents within the bound.
func uncrowded(rule core.RuleFunc) core.RuleFunc {
	return func(observers *core.Events, addError core.AddErrFunc) {
		compare := &core.Events{}
		rule(compare, addError)
		first := true
		observers.OnOperation(func(walker *core.Walker, _ *ast.OperationDefinition) {
			if !first {
				return
			}
			first = false
			if name := crowd(walker.Document); name != "" {
				addError(core.Message("The name %q is selected more than %d times.", name, maxNamesakes))
				return
			}
			core.Walk(walker.Schema, walker.Document, compare)
		})
	}
}

// crowd names what more than maxNamesakes fields answer under, or answers "".
func crowd(document *ast.QueryDocument) string {
	namesakes, crowded := map[string]int{}, ""
	var count func(ast.SelectionSet)
	count = func(set ast.SelectionSet) {
		for _, selected := range set {
			switch selected := selected.(type) {
			case *ast.Field:
				if namesakes[selected.Alias]++; namesakes[selected.Alias] > maxNamesakes {
					crowded = selected.Alias
				}
				count(selected.SelectionSet)
			case *ast.InlineFragment:
				count(selected.SelectionSet)
			}
		}
	}
	for _, operation := range document.Operations {
		count(operation.SelectionSet)
	}
	for _, fragment := range document.Fragments {
		count(fragment.SelectionSet)
	}
	return crowded
}

func bounded(rule core.RuleFunc) core.RuleFunc {
	return func(observers *core.Events, addError core.AddErrFunc) {
		told := 0
		rule(observers, func(options ...core.ErrorOption) {
			if told < maxMistakes {
				addError(options...)
			}
			told++
		})
	}
}

// outOfRange reports whether the rule's complaint about an ID, or an object, is
// only that it, or some number in it, does not fit 64 bits.
func outOfRange(value *ast.Value, complaint []core.ErrorOption) bool {
	if value == nil || !beyond64Bits(value) {
		return false
	}
	switch value.Kind {
	case ast.IntValue:
		return value.Definition.Name == "ID"
	case ast.ListValue:
		return value.ExpectedType.Elem != nil // its elements are complained of one by one
	}
	var told gqlerror.Error
	for _, option := range complaint {
		option(&told)
	}
	return value.Kind == ast.ObjectValue && strings.HasPrefix(told.Message, "Expected value of type")
}
