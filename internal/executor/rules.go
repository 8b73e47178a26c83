package executor

import (
	"errors"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// maxMistakes bounds what one rule tells of a document. Fields that conflict
// are told in pairs: 20 KB of them made 200 MB of errors.
const maxMistakes = 100

// validationRules are gqlparser's, each bounded, and one mended: it evaluates the literals
// of an input object, and so refuses an integer of more than 64 bits that
// stands there for a custom scalar.
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
	for name, rule := range all.GetInner() {
		all.ReplaceRule(name, bounded(rule))
	}
	return all
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

// outOfRange reports whether the rule's complaint about an object is only that
// some number in it does not fit 64 bits.
func outOfRange(value *ast.Value, complaint []core.ErrorOption) bool {
	if value == nil || value.Kind != ast.ObjectValue {
		return false
	}
	var told gqlerror.Error
	for _, option := range complaint {
		option(&told)
	}
	_, err := value.Value(nil)
	return errors.Is(err, strconv.ErrRange) && strings.HasPrefix(told.Message, "Expected value of type")
}
