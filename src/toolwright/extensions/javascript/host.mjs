// The program that runs JavaScript and TypeScript tools and plugins, on node or bun.
// Requests come as JSON lines on descriptor 4, answers leave on 3; what the files print goes to stderr.

import fs from "node:fs"
import module, { createRequire } from "node:module"
import net from "node:net"
import path from "node:path"
import { pathToFileURL, fileURLToPath } from "node:url"
import { exec } from "node:child_process"
import { loginsIn, methodsFor, providersIn, remember } from "./logins.mjs"

const IN = 4, OUT = 3
const here = path.dirname(fileURLToPath(import.meta.url))
const loaded = new Map(), plugins = new Map(), working = new Map(), waiting = new Map()
let number = 0

if (typeof Bun !== "undefined") {
  const exports = await import("./plugin.mjs")
  Bun.plugin({
    name: "toolwright",
    setup(build) {
      for (const name of ["@opencode-ai/plugin", "@opencode-ai/plugin/tool"]) {
        build.module(name, () => ({ exports, loader: "object" }))
      }
    },
  })
} else {
  module.register("./files.mjs", import.meta.url)
}

class Failure extends Error {
  constructor(message, data = {}) { super(message); this.data = data }
}

function send(message) {
  const data = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n")
  let sent = 0
  while (sent < data.length) {
    try { sent += fs.writeSync(OUT, data, sent) } catch (error) { if (error.code !== "EAGAIN") throw error }
  }
}

function request(method, params) {
  const id = ++number
  send({ id, method, params })
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
}

function contextOf(said, signal) {
  return {
    ...said,
    abort: signal,
    metadata(shown = {}) { send({ method: "metadata", params: { call: said.callID, ...shown } }) },
    async ask(asked = {}) { await request("ask", { call: said.callID, ...asked }) },
  }
}

async function importFile(file) {
  let known = loaded.get(file)
  if (!known) {
    try {
      known = await import(pathToFileURL(file).href)
    } catch (problem) {
      const error = problem instanceof AggregateError ? problem.errors[0] ?? problem : problem
      if (typeof Bun === "undefined" && /'bun:'|package 'bun'/.test(error?.message)) {
        throw new Failure("it runs on bun alone, which is not on the PATH: npm install -g bun", { kind: "missing" })
      }
      throw new Failure(`${file}${placeOf(error, file)}: ${oneLine(error)}`)
    }
    loaded.set(file, known)
  }
  return known
}

function placeOf(error, file) {
  if (error?.position?.line) return `:${error.position.line}` // bun's way
  const stack = String(error?.stack ?? "")
  const found = stack.match(new RegExp(`${file.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}:(\\d+)`))
  return found ? `:${found[1]}` : ""
}

function oneLine(error) {
  const name = error?.name === "BuildMessage" ? "SyntaxError" : error?.name
  const text = error?.message !== undefined ? `${name}: ${error.message}` : String(error)
  return text.split("\n").find((line) => line.trim()) ?? "it failed"
}

const isTool = (value) =>
  typeof value === "object" && value !== null && typeof value.execute === "function" &&
  typeof value.description === "string" && typeof (value.args ?? {}) === "object"

function toolsIn(exported) {
  const found = {}, seen = new Set()
  for (const [name, value] of Object.entries(exported)) {
    if (isTool(value) && !seen.has(value)) { seen.add(value); found[name] = value }
  }
  return found
}

async function described(name, tool, file) {
  const properties = {}, required = []
  for (const [key, type] of Object.entries(tool.args ?? {})) {
    properties[key] = await schemaOf(type, file)
    if (!isOptional(type, properties[key])) required.push(key)
  }
  const asks = /\.\s*ask\s*\(|\bask\s*\(/.test(Function.prototype.toString.call(tool.execute))
  return { name, description: tool.description, parameters: { type: "object", properties, required }, asks, act: tool.act ?? null }
}

function isOptional(type, schema) {
  if ("default" in schema) return true
  if (typeof type?.isOptional === "function") { try { return type.isOptional() } catch { return false } }
  return false
}

async function schemaOf(type, file) {
  if (type && typeof type.toSchema === "function") return type.toSchema()
  if (type && (type._zod || type._def)) {
    try {
      const zod = await import(createRequire(file).resolve("zod"))
      const make = zod.toJSONSchema ?? zod.z?.toJSONSchema
      if (make) { const { $schema, ...schema } = make(type, { io: "input", unrepresentable: "any" }); return schema }
    } catch {}
    return type.description ? { description: type.description } : {}
  }
  return type && typeof type === "object" ? JSON.parse(JSON.stringify(type)) : {}
}

async function applied(tool, args) {
  const values = { ...args }
  for (const [key, type] of Object.entries(tool.args ?? {})) {
    if (typeof type?.apply === "function" && type.toSchema) values[key] = await type.apply(values[key], key)
    else if (typeof type?.parseAsync === "function" && key in values) values[key] = await type.parseAsync(values[key])
    if (values[key] === undefined) delete values[key]
  }
  return values
}

function resultOf(answer) {
  if (typeof answer === "string") return { output: answer }
  if (answer && typeof answer === "object" && typeof answer.output === "string") {
    const { output, title, metadata, attachments } = answer
    return { output, title, metadata, attachments }
  }
  const text = JSON.stringify(answer)
  if (text === undefined) throw new Failure(`It returned ${typeof answer}, which is no text and no record with an output.`)
  return { output: text }
}

const methods = {
  ...methodsFor(plugins),

  async project() { return null }, // what may run is looked at before it comes here

  async load({ path: file }) {
    const tools = toolsIn(await importFile(file))
    const all = await Promise.all(Object.entries(tools).map(([name, tool]) => described(name, tool, file)))
    return { tools: all, files: [file] }
  },

  async call({ path: file, name, arguments: args, context }, signal) {
    const tools = plugins.has(file) ? plugins.get(file).tools : toolsIn(await importFile(file))
    const tool = tools[name]
    if (!tool) throw new Failure(`${file} has no tool ${JSON.stringify(name)} any more.`, { kind: "missing" })
    return resultOf(await tool.execute(await applied(tool, args), contextOf(context, signal)))
  },

  async plugin({ path: file, directory, worktree, options }) {
    const exported = await importFile(file)
    const host = { client: client(), project: { id: worktree, worktree }, directory, worktree,
      serverUrl: new URL("http://localhost"), $: shell(directory) }
    const hooks = [], tools = {}, failures = []
    for (const [name, start] of startersIn(exported)) {
      try {
        const made = await start(host, options)
        if (isHooks(made)) { hooks.push(made); Object.assign(tools, toolsIn(made.tool ?? {})) }
      } catch (error) {
        failures.push({ name, error })
      }
    }
    // A helper that a file exports beside its plugin cannot be called like one; it is told, since it might be a guard.
    if (!hooks.length && failures.length) throw failures[0].error
    const passedOver = failures.map(({ name, error }) => `${name} is no plugin: ${oneLine(error)}`)
    if (!hooks.length && Object.values(exported).some((one) => typeof one?.setup === "function")) {
      throw new Failure(`${file}: it is written for OpenCode 2 alone; here plugins of the 1.x form run, with a server function.`)
    }
    if (!hooks.length) throw new Failure(`${file}: expected an exported function that returns its hooks.`)
    plugins.set(file, { hooks, tools })
    const names = [...new Set(hooks.flatMap((one) => Object.keys(one).filter((key) => ["tool", "auth", "provider"].includes(key) || typeof one[key] === "function")))]
    const all = await Promise.all(Object.entries(tools).map(([name, tool]) => described(name, tool, file)))
    return { hooks: names, tools: all, passedOver, logins: loginsIn(hooks), providers: providersIn(hooks) }
  },

  async hook({ path: file, name, input, output }) {
    for (const hooks of plugins.get(file).hooks) {
      if (typeof hooks[name] === "function") await hooks[name](input, output)
    }
    return { output, input: name === "config" ? input : undefined }
  },

  async idle() {
    while (working.size > 1) await new Promise((resolve) => setTimeout(resolve, 5))
    return null
  },
}

const isHooks = (made) => made && typeof made === "object" && !Array.isArray(made) &&
  (made.tool || made.auth || made.provider || Object.values(made).some((one) => typeof one === "function") || !Object.keys(made).length)

const isClass = (value) => /^class\b/.test(Function.prototype.toString.call(value))

function startersIn(exported) {
  const all = new Map()
  for (const [name, value] of Object.entries(exported)) {
    const start = typeof value === "function" ? value : typeof value?.server === "function" ? value.server : null
    if (start && !isClass(start) && ![...all.values()].includes(start)) all.set(name, start)
  }
  return all
}

function client(names = []) {
  // The SDK's client, whatever it is asked: `client.session.prompt({ path, query, body })` is answered by the program.
  const call = async (options = {}) => {
    const name = names.join(".")
    if (name === "app.log") return { data: true }
    const { path, query, body, throwOnError } = options
    const answer = await request("client", { name, path, query, body })
    if (name === "auth.set" && !answer.error) remember(path?.id ?? path?.providerID, body)
    const response = { status: answer.status, ok: answer.status < 400 }
    if (answer.error && throwOnError) throw Object.assign(new Error(answer.error.data?.message ?? name), answer.error)
    return answer.error ? { error: answer.error, response } : { data: answer.data, response }
  }
  return new Proxy(call, {
    get: (_, name) => (name === "then" || typeof name === "symbol" ? undefined : client([...names, name])),
  })
}

function shell(directory) {
  if (typeof Bun !== "undefined") return Bun.$
  // Bun's `$` as far as plugins use it: text(), quiet(), nothrow(), json(), lines().
  const quote = (value) => Array.isArray(value) ? value.map(quote).join(" ") : value?.raw !== undefined ? value.raw : `'${String(value).replace(/'/g, "'\\''")}'`
  const $ = (strings, ...values) => {
    const command = strings.reduce((text, piece, at) => text + (at ? quote(values[at - 1]) : "") + piece, "")
    const options = { cwd: directory, env: process.env }
    let tolerant = false
    const run = () => new Promise((resolve, reject) =>
      exec(command, { ...options, maxBuffer: 64 << 20, encoding: "buffer" }, (error, stdout, stderr) => {
        const answer = { stdout, stderr, exitCode: error ? error.code ?? 1 : 0, text: () => String(stdout) }
        error && !tolerant ? reject(Object.assign(new Error(String(stderr).trim() || error.message), answer)) : resolve(answer)
      }))
    let started
    const once = () => (started ??= run())
    const made = {
      cwd(to) { options.cwd = to; return made }, env(to) { options.env = to; return made },
      quiet() { return made }, nothrow() { tolerant = true; return made },
      text: async () => (await once()).text(), json: async () => JSON.parse((await once()).text()),
      lines: async function* () { yield* (await once()).text().split("\n").filter(Boolean) },
      then: (done, failed) => once().then(done, failed), catch: (failed) => once().catch(failed), finally: (then) => once().finally(then),
    }
    return made
  }
  return $
}

async function work(message) {
  const controller = new AbortController()
  working.set(message.id, controller)
  let answer
  try {
    answer = { result: (await methods[message.method](message.params ?? {}, controller.signal)) ?? null }
    JSON.stringify(answer)
  } catch (error) {
    if (!(error instanceof Failure)) console.error(error)
    const text = error instanceof Error ? error.message || error.name : String(error)
    answer = { error: { code: -32603, message: text, data: error?.data ?? {} } }
  }
  working.delete(message.id)
  send({ id: message.id, ...answer })
}

function take(message) {
  if (message.method === "cancel") return working.get(message.params?.id)?.abort()
  if (message.method) return void work(message)
  const asked = waiting.get(message.id)
  waiting.delete(message.id)
  if (!asked) return
  if (message.error) asked.reject(Object.assign(new Error(message.error.message), { data: message.error.data ?? {} }))
  else asked.resolve(message.result)
}

const leave = process.exit.bind(process)
process.exit = (code) => {
  // Alone, a call that ends its process ends it, and the next one starts another. Among others it fails by itself.
  if (working.size <= 1) leave(code)
  throw new Failure(`The tool ended its process with code ${code ?? 0}.`)
}
process.on("unhandledRejection", (error) => console.error(error))
process.on("uncaughtException", (error) => console.error(error))

let rest = ""
const decoder = new TextDecoder()
// On node a read of a file waits in a thread, and the process cannot end before it; a socket does not.
const stream = typeof Bun === "undefined" ? new net.Socket({ fd: IN, readable: true, writable: false }) : fs.createReadStream(null, { fd: IN })
stream.on("data", (data) => {
  const lines = (rest + decoder.decode(data, { stream: true })).split("\n")
  rest = lines.pop()
  for (const line of lines) if (line) take(JSON.parse(line))
})
stream.on("end", () => leave(0))
