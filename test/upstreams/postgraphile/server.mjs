// A PostGraphile server over the database whose URL is its argument.
import { createServer } from 'node:http';
import { grafserv } from 'postgraphile/grafserv/node';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { announce, live } from '../shop/serve.mjs';

const postgres = postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ connectionString: process.argv[2], schemas: ['app'] })],
  grafserv: {
    watch: false,
    graphiql: false,
    maskError: error => error, // masked ones have a number of their own each time
  },
  grafast: { explain: false },
});

const server = createServer();
await postgres.createServ(grafserv).addTo(server);

live();
server.listen(0, '127.0.0.1', () => announce(server.address().port));
