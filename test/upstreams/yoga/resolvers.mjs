import { setTimeout as sleep } from 'node:timers/promises';
import { GraphQLError } from 'graphql';
import { mark, parse, valueOf } from '../exact.mjs';

// tally counts by tag and mutation.
class Tally {
  #counts = new Map();
  add(tag, mutation) {
    const key = JSON.stringify([tag, mutation]);
    this.#counts.set(key, this.of(tag, mutation) + 1);
  }
  of(tag, mutation) {
    return this.#counts.get(JSON.stringify([tag, mutation])) ?? 0;
  }
}

const begun = new Tally();
const ended = new Tally();
const all = '*';

const values = tag => ({
  tag,
  big: mark('9007199254740993'),
  decimal: mark('1.10'),
  exponent: mark('-0.0E+400'),
  text: 'nul \u0000 <b>&"quotes" \\ \u{1F680} \u2028 \u2029 end',
  escaped: mark(String.raw`"\u003Cb\u003e \/ \u00e9 \ud83d\ude80"`),
  nothing: null,
  bigs: [mark('-123456789012345678901234567890'), null, 7],
  json: mark('{"z":1, "a":{"2":null,"1":1.0}, "big":9007199254740993, "z":2,\n\t"e":1E2}'),
});

const part = { id: 'p1', name: 'Bolt', color: 'GREEN', parts: [] };
const ada = { __typename: 'Person', id: 'ada', name: 'Ada' };
const wheel = { __typename: 'Item', id: 'w1', name: 'Wheel', color: 'RED', parts: [part], owner: ada };
ada.items = [wheel];
const everything = [ada, wheel];

function search({ by: { name, id, color }, order }) {
  const key = order.by === 'ID' ? 'id' : 'name';
  const found = everything.filter(
    it => (id != null && it.id === id) || (name != null && it.name.includes(name)) || (color != null && it.color === color),
  );
  found.sort((a, b) => (a[key] < b[key] ? -1 : 1));
  return order.descending ? found.reverse() : found;
}

function echo(args, { exchange }, info) {
  const variables = parse(exchange.body).variables ?? {};
  const result = { rawBody: exchange.body, text: args.text };
  for (const argument of info.fieldNodes[0].arguments) {
    if (['value', 'big', 'decimal'].includes(argument.name.value)) {
      result[argument.name.value] = valueOf(argument.value, variables);
    }
  }
  return result;
}

function fail() {
  throw new GraphQLError('short and stout <&>', {
    extensions: { code: 'TEAPOT', spilled: mark('9007199254740993.10'), nested: { nothing: null } },
  });
}

const partial = () => ({
  items: [
    part,
    { ...part, id: 'p2', name: () => { throw new GraphQLError('the name is lost', { extensions: { code: 'LOST' } }); } },
    new GraphQLError('the item is lost'),
  ],
});

let items = 0;
const addItem = ({ input }) => ({ id: `i${++items}`, parts: [], ...input });

async function slow({ seconds, tag }) {
  await sleep(seconds * 1000);
  return values(tag);
}

// mutation counts the calls of a resolver and notes the tag for /last.
function mutation(resolve) {
  return async (_, args, context, info) => {
    context.exchange.tag = args.tag;
    begun.add(args.tag, info.fieldName);
    begun.add(args.tag, all);
    try {
      return await resolve(args, context, info);
    } finally {
      ended.add(args.tag, all);
    }
  };
}

export const resolvers = {
  Query: {
    calls: (_, { tag, mutation }) => begun.of(tag, mutation ?? all),
    finished: (_, { tag }) => ended.of(tag, all),
    values: (_, { tag }, { exchange }) => values((exchange.tag = tag)),
    headers: (_, __, { exchange }) => exchange.headers,
    node: (_, { id }) => everything.find(it => it.id === id) ?? null,
    search: (_, args) => search(args),
    old: () => null,
  },
  Mutation: {
    slow: mutation(slow),
    echo: mutation(echo),
    fail: mutation(fail),
    partial: mutation(partial),
    headers: mutation((_, { exchange }) => exchange.headers),
    addItem: mutation(addItem),
  },
};
