SELECT pg_notify('asyncgate', payload) FROM unnest($1::text[]) AS payload
