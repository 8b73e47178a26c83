// The shop behind Mercurius.
import Fastify from 'fastify';
import mercurius from 'mercurius';
import { unmark } from '../exact.mjs';
import { resolvers } from '../shop/resolvers.mjs';
import { announce, live, typeDefs } from '../shop/serve.mjs';

const app = Fastify();

// The resolvers get the body as it came.
app.decorateRequest('text', '');
app.removeContentTypeParser('application/json');
app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
  request.text = body;
  done(null, JSON.parse(body));
});
app.addHook('onSend', async (_, __, payload) => (typeof payload === 'string' ? unmark(payload) : payload));
app.register(mercurius, { schema: typeDefs, resolvers, context: ({ text, headers }) => ({ body: text, headers }) });

live();
await app.listen({ port: 0, host: '127.0.0.1' });
announce(app.server.address().port);
