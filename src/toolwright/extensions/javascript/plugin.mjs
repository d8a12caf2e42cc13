// What `@opencode-ai/plugin` is to the tools that run here: `tool`, and `tool.schema` in the manner of zod.

class Type {
  constructor(schema, more = {}) { this.schema = schema; this.more = more }

  with(schema, more = {}) { return new Type({ ...this.schema, ...schema }, { ...this.more, ...more }) }
  toSchema() { return JSON.parse(JSON.stringify(this.schema)) }
  isOptional() { return this.more.optional === true || "default" in this.schema }

  describe(description) { return this.with({ description }) }
  meta(meta) { return this.with(meta) }
  optional() { return this.with({}, { optional: true }) }
  nullish() { return this.nullable().optional() }
  nullable() {
    const { description, ...inner } = this.schema
    return new Type({ anyOf: [inner, { type: "null" }], ...(description ? { description } : {}) }, this.more)
  }
  default(value) { return this.with({ default: value }) }
  catch() { return this }
  readonly() { return this }
  brand() { return this }
  or(other) { return union([this, other]) }
  array() { return array(this) }

  #limit(low, high) {
    const names = { string: ["minLength", "maxLength"], array: ["minItems", "maxItems"] }[this.schema.type] ?? ["minimum", "maximum"]
    return this.with({ ...(low === undefined ? {} : { [names[0]]: low }), ...(high === undefined ? {} : { [names[1]]: high }) })
  }
  min(value) { return this.#limit(value) }
  max(value) { return this.#limit(undefined, value) }
  gte(value) { return this.min(value) }
  lte(value) { return this.max(value) }
  gt(value) { return this.with({ exclusiveMinimum: value }) }
  lt(value) { return this.with({ exclusiveMaximum: value }) }
  length(value) { return this.#limit(value, value) }
  nonempty() { return this.#limit(1) }
  int() { return this.with({ type: "integer" }) }
  positive() { return this.gt(0) }
  nonnegative() { return this.min(0) }
  negative() { return this.lt(0) }
  nonpositive() { return this.max(0) }
  multipleOf(value) { return this.with({ multipleOf: value }) }
  step(value) { return this.multipleOf(value) }
  finite() { return this }
  safe() { return this }
  regex(pattern) { return this.with({ pattern: pattern.source }) }
  startsWith(text) { return this.with({ pattern: `^${escaped(text)}` }) }
  endsWith(text) { return this.with({ pattern: `${escaped(text)}$` }) }
  includes(text) { return this.with({ pattern: escaped(text) }) }
  email() { return this.with({ format: "email" }) }
  url() { return this.with({ format: "uri" }) }
  uuid() { return this.with({ format: "uuid" }) }
  datetime() { return this.with({ format: "date-time" }) }
  trim() { return this.transform((value) => value.trim()) }
  toLowerCase() { return this.transform((value) => value.toLowerCase()) }
  toUpperCase() { return this.transform((value) => value.toUpperCase()) }

  strict() { return this.with({ additionalProperties: false }) }
  passthrough() { return this }
  loose() { return this }
  strip() { return this }
  extend(shape) { return object({ ...this.more.shape, ...shape }) }
  partial() { return object(Object.fromEntries(Object.entries(this.more.shape).map(([key, type]) => [key, type.optional()]))) }
  pick(keys) { return object(Object.fromEntries(Object.entries(this.more.shape).filter(([key]) => keys[key]))) }
  omit(keys) { return object(Object.fromEntries(Object.entries(this.more.shape).filter(([key]) => !keys[key]))) }

  refine(check, said) { return this.with({}, { steps: [...(this.more.steps ?? []), { check, said }] }) }
  transform(change) { return this.with({}, { steps: [...(this.more.steps ?? []), { change }] }) }
  pipe() { return this }
  async apply(value, name) {
    for (const { check, change, said } of value === undefined ? [] : this.more.steps ?? []) {
      if (change) value = await change(value)
      else if (!(await check(value))) {
        const words = typeof said === "string" ? said : said?.message ?? "it was refused"
        throw Object.assign(new Error(`${name}: ${words}`), { data: { kind: "schema" } })
      }
    }
    return value
  }
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
const schemaOf = (type) => (typeof type?.toSchema === "function" ? type.toSchema() : type)
const described = (schema) => new Type(schema)
const array = (of) => described({ type: "array", items: schemaOf(of) })
const union = (all) => described({ anyOf: all.map(schemaOf) })
const literal = (value) => described(Array.isArray(value) ? { enum: value } : { const: value })
const choice = (values) => {
  const all = Array.isArray(values) ? values : Object.values(values)
  return described({ ...(all.every((one) => typeof one === "string") ? { type: "string" } : {}), enum: all })
}
function object(shape = {}) {
  const properties = {}, required = []
  for (const [key, type] of Object.entries(shape)) {
    properties[key] = schemaOf(type)
    if (!type?.isOptional?.()) required.push(key)
  }
  return new Type({ type: "object", properties, required }, { shape })
}

const format = (name) => () => described({ type: "string", format: name })
export const schema = {
  string: () => described({ type: "string" }), number: () => described({ type: "number" }),
  int: () => described({ type: "integer" }), boolean: () => described({ type: "boolean" }),
  bigint: () => described({ type: "integer" }), null: () => described({ type: "null" }),
  any: () => described({}), unknown: () => described({}), undefined: () => described({}).optional(),
  never: () => described({ not: {} }), date: format("date-time"), email: format("email"), url: format("uri"),
  uuid: format("uuid"), literal, enum: choice, nativeEnum: choice, array, object, union,
  strictObject: (shape) => object(shape).strict(), looseObject: object,
  discriminatedUnion: (_, all) => union(all), intersection: (a, b) => described({ allOf: [schemaOf(a), schemaOf(b)] }),
  tuple: (all) => described({ type: "array", prefixItems: all.map(schemaOf), minItems: all.length, maxItems: all.length }),
  record: (key, value) => described({ type: "object", additionalProperties: schemaOf(value ?? key) }),
  optional: (type) => type.optional(), nullable: (type) => type.nullable(),
  coerce: {},
}
schema.coerce = { string: schema.string, number: schema.number, boolean: schema.boolean }

export function tool(record) { return record }
tool.schema = schema
