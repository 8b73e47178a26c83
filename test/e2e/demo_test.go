package e2e

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"asyncgate/test/gateway"
)

func TestTheDemosThreeCommandsSubmitQueryAndReceiveThePush(t *testing.T) {
	t.Parallel()
	demo := gateway.Run(t, binary, nil, "demo", "--listen", "127.0.0.1:0")
	demo.Line(t, "Ctrl-C ends the demo")
	var commands []string
	lines := strings.Split(demo.Output(), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "# ") && i+1 < len(lines) {
			commands = append(commands, lines[i+1])
		}
	}
	if len(commands) != 3 {
		t.Fatalf("the demo tells %d commands:\n%s", len(commands), demo.Output())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	output, err := exec.CommandContext(ctx, "bash", "-c", strings.Join(commands, "\necho ----\n")).Output()
	if err != nil {
		t.Fatalf("%v after:\n%s", err, output)
	}
	parts := strings.Split(string(output), "----\n")
	if len(parts) != 3 {
		t.Fatalf("the commands wrote:\n%s", output)
	}
	if !strings.Contains(parts[1], `"state":"RUNNING"`) && !strings.Contains(parts[1], `"state":"QUEUED"`) {
		t.Errorf("the query answered %s", parts[1])
	}
	for _, pushed := range []string{
		"event: next\n", `"state":"SUCCEEDED"`, `"result":{"data":{"generateReport":{"id":`,
		`"title":"Sales of 2026","author":"ada"`, "event: complete\n",
	} {
		if !strings.Contains(parts[2], pushed) {
			t.Errorf("without %s the subscription was pushed:\n%s", pushed, parts[2])
		}
	}
}
