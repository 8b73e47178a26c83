// A graphql-yoga server for tests. It prints where it listens and ends on
// SIGTERM, and when its standard input closes: it never outlives its parent.
//
//   POST /graphql       the API of schema.graphql
//   GET  /last?tag=TAG  the body of the last answer in which TAG was named, byte for byte
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';
import { unmark } from '../exact.mjs';
import { resolvers } from './resolvers.mjs';

const typeDefs = readFileSync(new URL('schema.graphql', import.meta.url), 'utf8');
const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }),
  graphiql: false,
  landingPage: false,
  logging: false,
  maskedErrors: false,
});

const last = new Map(); // the last answer's body, by tag

async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

// execute gives yoga the request, and the resolvers the exchange: the request's
// body and headers as they came, and the tag once a resolver has named it.
async function execute(request, response) {
  const exchange = { body: await read(request), headers: request.headers, tag: undefined };
  const { accept = 'application/json', 'content-type': type = 'application/json' } = request.headers;
  const answer = await yoga.fetch(
    new URL(request.url, 'http://localhost').href,
    { method: request.method, headers: { accept, 'content-type': type }, body: exchange.body || undefined },
    { exchange },
  );
  const body = unmark(await answer.text());
  if (exchange.tag !== undefined) last.set(exchange.tag, body);
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
  response.end(body);
}

function serveLast(url, response) {
  const body = last.get(url.searchParams.get('tag'));
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/octet-stream' });
  response.end(body);
}

const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  if (url.pathname === '/last') {
    serveLast(url, response);
    return;
  }
  execute(request, response).catch(error => {
    console.error(error);
    response.destroy();
  });
});

const stop = () => process.exit(0);
process.on('SIGTERM', stop);
process.stdin.on('close', stop).resume();

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/graphql`);
});
