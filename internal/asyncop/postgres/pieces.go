package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// inPieces runs a batch, and where the database refuses the data of one item,
// its halves, until the item that it refuses stands alone. One bad row fails no
// neighbour, and a good batch costs one statement.
func inPieces[T, R any](batch []T, run func([]T) ([]R, error), alone func(refused error) R) ([]R, error) {
	if len(batch) == 0 {
		return nil, nil
	}
	answers, err := run(batch)
	if err == nil || !isRefused(err) {
		return answers, err
	}
	if len(batch) == 1 {
		return []R{alone(err)}, nil
	}
	middle := len(batch) / 2
	first, err := inPieces(batch[:middle], run, alone)
	if err != nil {
		return nil, err
	}
	second, err := inPieces(batch[middle:], run, alone)
	return append(first, second...), err
}

// isRefused reports whether the database understood the statement and refuses
// its data, which it would refuse again.
func isRefused(err error) bool {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return false
	}
	switch pgErr.Code[:2] {
	case "22", "23", "54": // data exception, integrity violation, program limit
		return true
	}
	return false
}
