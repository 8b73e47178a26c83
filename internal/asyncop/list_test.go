package asyncop_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

func TestACursorSurvivesItsText(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{
		time.UnixMicro(0), time.Date(2026, 2, 3, 4, 5, 6, 789_012_000, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	} {
		cursor := asyncop.CursorOf(asyncop.Operation{ID: uuid.New(), CreatedAt: at.UTC()})
		if got, err := asyncop.ParseCursor(cursor.String()); err != nil || got != cursor {
			t.Errorf("%v became %v, %v", cursor, got, err)
		}
	}
}

func TestMalformedCursorsAreRefused(t *testing.T) {
	t.Parallel()
	good := asyncop.Cursor{CreatedAt: time.UnixMicro(1), ID: uuid.New()}.String()
	encode := base64.RawURLEncoding.EncodeToString
	for name, text := range map[string]string{
		"Empty":        "",
		"NoBase64":     "!" + good[1:],
		"TooShort":     good[:len(good)-2],
		"TooLong":      good + "AAAA",
		"AUUID":        uuid.NewString(),
		"BeforeAll":    encode([]byte("\xff" + strings.Repeat("\x00", 23))),
		"AfterAll":     encode([]byte("\x7f" + strings.Repeat("\xff", 23))),
		"TheYear10000": asyncop.Cursor{CreatedAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}.String(),
	} {
		if cursor, err := asyncop.ParseCursor(text); !errors.Is(err, asyncop.ErrBadCursor) {
			t.Errorf("%s: %v, %v", name, cursor, err)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	f.Add(asyncop.Cursor{CreatedAt: time.UnixMicro(1), ID: uuid.New()}.String())
	f.Fuzz(func(t *testing.T, text string) {
		cursor, err := asyncop.ParseCursor(text)
		if err != nil {
			return
		}
		if again, err := asyncop.ParseCursor(cursor.String()); err != nil || again != cursor {
			t.Errorf("%q names %v, whose own text names %v, %v", text, cursor, again, err)
		}
	})
}
