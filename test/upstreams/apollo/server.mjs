// The shop behind Apollo Server.
import { ApolloServer, HeaderMap } from '@apollo/server';
import { resolvers } from '../shop/resolvers.mjs';
import { serve, typeDefs } from '../shop/serve.mjs';

const apollo = new ApolloServer({ typeDefs, resolvers, introspection: true, includeStacktraceInErrorResponses: false });
await apollo.start();

serve(async exchange => {
  const headers = new HeaderMap(Object.entries(exchange.headers).map(([name, value]) => [name, String(value)]));
  const answer = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method: 'POST', headers, search: '', body: JSON.parse(exchange.body) },
    context: async () => exchange,
  });
  return { status: answer.status ?? 200, type: answer.headers.get('content-type') ?? 'text/plain', body: answer.body.string };
});
