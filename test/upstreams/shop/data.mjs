// What the shop sells. Nothing changes it.
import { mark } from '../exact.mjs';

export const broken = (message, extensions) => Object.assign(new Error(message), { extensions });

const size = (width, height, unit) => ({ width, height, unit });
export const makers = [
  { __typename: 'Maker', id: 'm1', name: 'Ada & Söhne' },
  { __typename: 'Maker', id: 'm2', name: null },
];
makers[1].boss = makers[0];

const product = (id, name, color, price, maker, more) => ({
  __typename: 'Product', id, name, color, price: mark(price), maker, code: `C-${id}`,
  stock: 7, tags: [], dimensions: [], attributes: null, ...more,
});
export const products = [
  product('p1', 'Wheel', 'RED', '1.10', makers[0], {
    stock: mark('9007199254740993'), tags: ['round', null, ''], dimensions: [size(1.5, 2, 'MM'), size(1e21, null, 'CM')],
    attributes: { z: 1, a: { 2: null, 1: 1.5 }, list: [[], {}, [null]], text: '<b>&\u2028' },
  }),
  product('p2', 'Bolt "M8"', 'GREEN', '0.000000000000000000001', makers[1], { tags: null }),
  product('p3', 'Nut \u{1F680}', 'BLUE', '123456789012345678901234567890.5', null, { stock: mark('-123456789012345678901234567890') }),
  product('p4', null, null, '-0.0E+400', makers[0], { attributes: [] }),
];
export const bundles = [{ __typename: 'Bundle', id: 'b1', name: 'Everything', price: mark('1E2'), products }];
export const everything = [...products, ...bundles, ...makers];

export const values = () => ({
  big: mark('9007199254740993'),
  bigs: [mark('-123456789012345678901234567890'), null, 7],
  decimal: mark('1.10'),
  exponent: mark('-0.0E+400'),
  int: -2147483648,
  float: 1e-7,
  yes: true,
  text: 'nul \u0000 <b>&"quotes" \\ \u{1F680} \u2028 \u2029 end',
  lone: 'half \ud83d of it',
  nothing: null,
  emptyText: '',
  emptyList: [],
  nulls: [null, 'x', null],
  matrix: [[1, 2], [], [3]],
  json: mark('{"z":1, "a":{"2":null,"1":1.0}, "":9007199254740993, "z":2,\n\t"e":[[[]],{}]}'),
  emptyJson: {},
});

export const tree = depth => ({ depth, left: () => (depth > 0 ? tree(depth - 1) : null), right: () => (depth > 1 ? tree(depth - 2) : null) });

export const fragile = depth => ({
  fine: 'fine',
  broken: () => { throw broken('it broke', { code: 'BROKEN', spilled: mark('9007199254740993.10'), nested: { nothing: null, empty: {} } }); },
  brokenHard: () => { throw broken('it broke hard <&> \u{1F680}'); },
  list: ['a', broken('the second is lost', { code: 'LOST' }), null],
  hardList: ['a', broken('and so is the list')],
  items: () => (depth > 0 ? [fragile(depth - 1), null, fragile(0)] : []),
  hardItems: () => (depth > 0 ? [fragile(depth - 1), fragile(0)] : null),
  deeper: () => (depth > 0 ? fragile(depth - 1) : null),
  deeperHard: () => fragile(Math.max(depth - 1, 0)),
});
