// Runs test files of Gemini CLI and of Qwen Code with stand-ins for what they test, and prints what each test expects:
// the rules, the command and the decision, as JSON lines.
import module from "node:module"
import { pathToFileURL } from "node:url"

const STANDIN = `
const tests = [], before = []
const run = (_, body) => body()
export const describe = Object.assign(run, { skipIf: () => run })
export const it = Object.assign((name, body) => tests.push({ name, body }), { each: () => () => {}, skip: () => {} })
export const test = it
export const beforeEach = (body) => before.push(body), beforeAll = beforeEach, afterEach = () => {}, afterAll = () => {}
export const vi = new Proxy({}, { get: () => () => vi })
class Asked { constructor(row) { this.row = row } }
const told = (row) => console.log(JSON.stringify(row))
export const expect = (value) => new Proxy({}, { get: (_, name) => name === "toBe" && value instanceof Asked
  ? (expected) => told({ ...value.row, expected }) : () => {} })
export const PolicyDecision = { ALLOW: "allow", ASK_USER: "ask", DENY: "deny" }, ApprovalMode = {}
export const initializeShellParsers = async () => {}
export const buildArgsPatterns = (_, prefix) => [prefix]
export class PolicyEngine {
  constructor(options) { this.options = options }
  async check({ args }) {
    const { rules, defaultDecision } = this.options
    const row = { rules: rules.map((one) => ({ action: one.decision, prefix: one.argsPattern.source, redirects: Boolean(one.allowRedirection) })),
      otherwise: defaultDecision, command: args.command }
    return { decision: new Asked(row), rule: undefined }
  }
}
export const isShellCommandReadOnly = (command) => new Asked({ command })
export async function runAll() {
  for (const { body } of tests) { for (const one of before) await one(); await body() }
}`
const standin = "data:text/javascript," + encodeURIComponent(STANDIN)
module.registerHooks({ resolve: (name, context, next) =>
  context.parentURL?.startsWith("data:") || name.startsWith("file:") || name.startsWith("data:")
    ? next(name, context) : { url: standin, shortCircuit: true } })
await import(pathToFileURL(process.argv[2]).href)
await (await import(standin)).runAll()
