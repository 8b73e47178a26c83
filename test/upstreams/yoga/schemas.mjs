// Reads from standard input what a server and the gateway before it answered to
// graphql-js's introspection query, as {"server": …, "gateway": …}, and prints
// a line for each fault: the gateway's schema is not valid, breaks what the
// server's promised, or lacks a line of it. Subscriptions are the gateway's.
//
// With the argument `query` it prints that query instead.
import { readFileSync } from 'node:fs';
import {
  buildClientSchema, DEFAULT_DEPRECATION_REASON, findBreakingChanges, getIntrospectionQuery, isScalarType, isSpecifiedScalarType, printType, validateSchema,
} from 'graphql';

const query = getIntrospectionQuery({ specifiedByUrl: true, directiveIsRepeatable: true, inputValueDeprecation: true, oneOf: true });

// withReason gives what is deprecated the reason that stands for none: gqlgen
// says null.
const withReason = (_, it) => (it?.isDeprecated && it.deprecationReason === null ? { ...it, deprecationReason: DEFAULT_DEPRECATION_REASON } : it);

// read makes a schema of an answer. graphql-js cannot print an object as the
// default of a custom scalar: here it becomes text.
function read(answer) {
  const schema = buildClientSchema(answer.data);
  for (const type of Object.values(schema.getTypeMap())) {
    if (isScalarType(type) && !isSpecifiedScalarType(type)) {
      type.serialize = value => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value);
    }
  }
  return schema;
}

const linesOf = type => printType(type).split('\n').map(line => line.trim()).filter(line => line !== '' && line !== '}');

// missing is what a type's definition has and another's lacks.
function missing(type, other) {
  if (other === undefined) return [`${type.name} is missing`];
  const there = new Set(linesOf(other));
  return linesOf(type).filter(line => !there.has(line)).map(line => `${type.name} lacks: ${line}`);
}

function faults(server, gateway) {
  const types = Object.values(server.getTypeMap()).filter(type => !type.name.startsWith('__') && type !== server.getSubscriptionType());
  const subscription = server.getSubscriptionType()?.name;
  return [
    ...validateSchema(gateway).map(error => `invalid: ${error.message}`),
    ...findBreakingChanges(server, gateway)
      .map(change => `breaks: ${change.description}`)
      .filter(text => subscription === undefined || !text.includes(`${subscription}.`)),
    ...types.flatMap(type => missing(type, gateway.getType(type.name))),
  ];
}

if (process.argv[2] === 'query') {
  process.stdout.write(query);
} else {
  const { server, gateway } = JSON.parse(readFileSync(0, 'utf8'), withReason);
  for (const fault of faults(read(server), read(gateway))) console.log(fault);
}
