-- What PostGraphile makes an API of: keys and relations, numbers of every
-- length, JSON, times, an enum, a composite type, functions, and what fails.
CREATE SCHEMA app;

CREATE TYPE app.color AS ENUM ('red', 'green', 'dark_blue');
CREATE TYPE app.address AS (street text, zip text, height numeric(12, 2));

CREATE TABLE app.maker (
    id int PRIMARY KEY,
    name text NOT NULL CHECK (name <> ''),
    home app.address,
    founded date,
    boss_id int REFERENCES app.maker
);
CREATE INDEX ON app.maker (boss_id);
COMMENT ON TABLE app.maker IS 'Who makes "things".';

CREATE TABLE app.thing (
    id bigint PRIMARY KEY,
    name text NOT NULL,
    color app.color NOT NULL DEFAULT 'green',
    price numeric NOT NULL DEFAULT 1.10,
    weight double precision,
    count bigint NOT NULL DEFAULT 9007199254740993,
    tags text[] NOT NULL DEFAULT '{}',
    extra jsonb,
    text json,
    made timestamptz NOT NULL DEFAULT '2026-01-02 03:04:05.678901+00',
    lasts interval,
    active boolean,
    maker_id int REFERENCES app.maker,
    UNIQUE (name)
);
CREATE INDEX ON app.thing (maker_id);
CREATE INDEX ON app.thing (color);
COMMENT ON COLUMN app.thing.tags IS E'@deprecated use "extra"\nWords about it.';

INSERT INTO app.maker VALUES
    (1, 'Ada & Söhne', ROW ('Main <b>Street</b>', '00123', 1.50), '1999-12-31', NULL),
    (2, 'Bob "the" builder', NULL, NULL, 1),
    (3, E'Eve \U0001F680\u2028', ROW (NULL, '', NULL), '0001-01-01', 2);

INSERT INTO app.thing (id, name, color, price, weight, count, tags, extra, text, lasts, active, maker_id) VALUES
    (1, 'Wheel', 'red', 1.10, 1.5, 9007199254740993, '{round,NULL,""}', '{"z": 1.10, "a": [null, {"b": 9007199254740993}]}', '{"z":1, "a":{"2":null,"1":1.0}}', '1 day 02:03:04', true, 1),
    (2, E'Bolt "M8" \\', 'green', 0.000000000000000000001, -0.0, -9223372036854775808, '{}', '[]', NULL, NULL, false, 2),
    (3, 'Nut', 'dark_blue', 123456789012345678901234567890.50, 1e300, 9223372036854775807, '{a}', '"text"', 'null', '1 year', NULL, NULL),
    (9007199254740993, 'Far', 'green', -7, NULL, 0, '{}', NULL, NULL, NULL, NULL, 1);

CREATE VIEW app.cheap AS SELECT id, name, price FROM app.thing WHERE price < 2;

CREATE FUNCTION app.thing_shout(thing app.thing, loud boolean DEFAULT true) RETURNS text LANGUAGE sql STABLE AS
$$ SELECT CASE WHEN loud THEN upper(thing.name) || '!' ELSE thing.name END $$;

CREATE FUNCTION app.thing_broken(thing app.thing) RETURNS text LANGUAGE plpgsql STABLE AS
$$ BEGIN
    RAISE EXCEPTION 'thing % is broken', thing.id USING ERRCODE = 'TH001', DETAIL = 'about "it"', HINT = 'mend <it>';
END $$;

CREATE FUNCTION app.sum(a numeric, b numeric DEFAULT 1.10) RETURNS numeric LANGUAGE sql IMMUTABLE AS
$$ SELECT a + b $$;

CREATE FUNCTION app.echo(value jsonb, big bigint, text text DEFAULT 'd "q"') RETURNS jsonb LANGUAGE sql STABLE AS
$$ SELECT jsonb_build_object('value', value, 'big', big, 'text', text) $$;

CREATE FUNCTION app.things_of(color app.color, names text[] DEFAULT NULL) RETURNS SETOF app.thing LANGUAGE sql STABLE AS
$$ SELECT * FROM app.thing t WHERE t.color = things_of.color AND (names IS NULL OR t.name = ANY (names)) ORDER BY t.id $$;

CREATE FUNCTION app.fails(code text) RETURNS int LANGUAGE plpgsql STABLE AS
$$ BEGIN RAISE EXCEPTION 'it fails: %', code USING ERRCODE = code, HINT = 'do not call it'; END $$;

CREATE FUNCTION app.home(street text) RETURNS app.address LANGUAGE sql STABLE AS
$$ SELECT ROW (street, '1', 2.50)::app.address $$;

CREATE FUNCTION app.rename(id bigint, name text) RETURNS app.thing LANGUAGE sql VOLATILE AS
$$ UPDATE app.thing t SET name = rename.name WHERE t.id = rename.id RETURNING t.* $$;

CREATE FUNCTION app.refuse(why text) RETURNS text LANGUAGE plpgsql VOLATILE AS
$$ BEGIN RAISE EXCEPTION '%', why USING ERRCODE = 'RF001', DETAIL = why; END $$;

CREATE FUNCTION app.double(number numeric) RETURNS numeric LANGUAGE sql VOLATILE AS
$$ SELECT number * 2 $$;
