// The life of a server for tests: it prints where it listens and ends on
// SIGTERM, and when its standard input closes: it never outlives its parent.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { unmark } from '../exact.mjs';

export const typeDefs = readFileSync(new URL('schema.graphql', import.meta.url), 'utf8');

// live ties the process to its parent.
export function live() {
  const stop = () => process.exit(0);
  process.on('SIGTERM', stop);
  process.stdin.on('close', stop).resume();
}

export const announce = port => console.log(`listening on http://127.0.0.1:${port}/graphql`);

async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

// serve answers each request with what `answer` makes of its body and headers:
// a status, a content type and a body, which may hold marks.
export function serve(answer) {
  const server = createServer(async (request, response) => {
    try {
      const { status, type, body } = await answer({ body: await read(request), headers: request.headers });
      response.writeHead(status, { 'content-type': type });
      response.end(unmark(body));
    } catch (error) {
      console.error(error);
      response.destroy();
    }
  });
  live();
  server.listen(0, '127.0.0.1', () => announce(server.address().port));
}
