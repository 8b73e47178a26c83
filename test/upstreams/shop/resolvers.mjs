// The shop of schema.graphql, for any server that takes resolvers by type and
// field. Their context has `body` and `headers`: the request's, as they came.
import { mark, parse, valueOf } from '../exact.mjs';
import { broken, bundles, everything, fragile, products, tree, values } from './data.mjs';

const matches = filter => it =>
  !filter ||
  ((filter.color == null || it.color === filter.color) &&
    (filter.colors == null || filter.colors.includes(it.color)) &&
    (filter.names == null || filter.names.includes(it.name)) &&
    (filter.not == null || !matches(filter.not)(it)) &&
    (filter.any == null || filter.any.some(one => matches(one)(it))));

function find({ filter, sort, first }) {
  const found = products.filter(matches(filter));
  for (const { by, descending } of [...sort].reverse()) {
    const key = it => String(by === 'ID' ? it.id : it.name);
    found.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (descending ? -1 : 1));
  }
  return found.slice(0, first ?? undefined);
}

function one({ by: { id, name, filter } }) {
  return products.find(it => it.id === id || it.name === name || (filter != null && matches(filter)(it))) ?? null;
}

const byId = id => everything.find(it => it.id === id) ?? null;

// exactly is the arguments of the field as they were written.
function exactly(_, __, { body }, info) {
  const variables = parse(body).variables ?? {};
  return Object.fromEntries(info.fieldNodes[0].arguments.map(it => [it.name.value, valueOf(it.value, variables)]));
}

const echo = { scalars: (_, args) => args, lists: (_, args) => args, inputs: (_, args) => args, exact: exactly, again: () => ({}) };

function save(input) {
  const { name, color, price, sizes, tags, attributes } = input;
  const product = { ...products[1], id: `new-${name}`, name, color, price: price ?? mark('0.0'), dimensions: sizes ?? [], tags, attributes };
  return { product, input, query: {} };
}

function partly({ names }) {
  return names.map(name =>
    name.startsWith('bad') ? broken(`${name} is bad`, { code: 'BAD_NAME', name }) : save({ name, color: 'RED' }).product,
  );
}

const priced = { discount: (it, { percent }) => (it.id === 'p3' ? null : percent / 4) };

export const resolvers = {
  Query: {
    shop: () => ({}),
    caller: (_, __, { headers }) => headers['x-user-id'] ?? null,
    node: (_, { id }) => byId(id),
    nodes: (_, { ids }) => ids.map(byId),
    product: (_, args) => one(args),
    products: (_, args) => find(args),
    search: (_, { text }) => everything.filter(it => (it.name ?? '').includes(text)),
    priced: () => [...products, ...bundles],
    values,
    tree: (_, { depth }) => tree(depth),
    echo: () => ({}),
    fragile: () => fragile(2),
    solid: () => fragile(1),
    fails: (_, { code }) => { throw broken('short and stout <&>', { code, number: mark('9007199254740993') }); },
    mustFail: () => { throw broken('nothing is left'); },
    empty: () => [],
    none: () => null,
    old: () => 'old',
  },
  Mutation: {
    save: (_, { input }) => save(input),
    saveAll: (_, { inputs }) => inputs.map(input => (input.name === 'bad' ? broken('bad', { code: 'BAD' }) : save(input))),
    remove: (_, { id }) => (byId(id) ? id : null),
    echo: () => ({}),
    refuse: (_, { code }) => { throw broken('refused', { code }); },
    mustFail: () => { throw broken('nothing was saved', { code: 'HARD', at: [1, null, { deep: mark('1.10') }] }); },
    partly: (_, args) => partly(args),
    fragile: () => fragile(1),
  },
  Product: {
    ...priced,
    sizes: ({ dimensions }, { unit }) => dimensions.map(it => (unit === 'MM' ? it : { ...it, unit: unit ?? it.unit })),
    related: (it, { first, where }) => products.filter(other => other !== it && matches(where)(other)).slice(0, first ?? undefined),
  },
  Bundle: priced,
  Maker: { products: (it, { color }) => products.filter(made => made.maker === it && (color == null || made.color === color)) },
  Echo: echo,
};
