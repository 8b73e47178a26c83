// JSON text that JavaScript cannot hold: numbers of any length, and strings in
// a spelling of one's own. A mark is a string that stands for such text until
// `unmark` puts the text into the finished JSON.
import { randomUUID } from 'node:crypto';

const nonce = randomUUID(); // nobody else's string is taken for a mark
const marks = new RegExp(`"@json:${nonce}:([A-Za-z0-9+/=]*)@"`, 'g');
const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/gs; // JSON's strings and numbers

export const mark = text => `@json:${nonce}:${Buffer.from(text).toString('base64')}@`;

export const unmark = json =>
  json.replace(marks, (_, text) => Buffer.from(text, 'base64').toString());

// number is the number itself where JavaScript writes it as it was written,
// else its mark.
const number = text => (String(Number(text)) === text ? Number(text) : mark(text));

// parse is JSON.parse, but for the numbers that it would change: their marks.
export const parse = json =>
  JSON.parse(json.replace(tokens, token => (token[0] === '"' ? token : JSON.stringify(number(token)))));

// valueOf is the value of an argument in a document. Variables are what `parse`
// made of them.
export function valueOf(node, variables) {
  switch (node.kind) {
    case 'Variable':
      return variables[node.name.value] ?? null;
    case 'IntValue':
    case 'FloatValue':
      return number(node.value);
    case 'ListValue':
      return node.values.map(item => valueOf(item, variables));
    case 'ObjectValue':
      return Object.fromEntries(node.fields.map(field => [field.name.value, valueOf(field.value, variables)]));
    case 'NullValue':
      return null;
    default:
      return node.value;
  }
}
