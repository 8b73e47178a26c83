// The shop behind graphql-yoga.
import { createSchema, createYoga } from 'graphql-yoga';
import { resolvers } from '../shop/resolvers.mjs';
import { serve, typeDefs } from '../shop/serve.mjs';

const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }),
  graphiql: false,
  landingPage: false,
  logging: false,
  maskedErrors: false,
});

serve(async exchange => {
  const { accept = 'application/json', 'content-type': type = 'application/json' } = exchange.headers;
  const answer = await yoga.fetch('http://localhost/graphql', { method: 'POST', headers: { accept, 'content-type': type }, body: exchange.body }, exchange);
  return { status: answer.status, type: answer.headers.get('content-type') ?? 'text/plain', body: await answer.text() };
});
