// The official TypeScript clients, 1.x and 2.x, against our server: list, write, edit, undo, and a cancelled call.
// node official.mjs PACKAGE WAY ASKS HOME COMMAND...   (WAY is stdio or the address; COMMAND the program for stdio)

const [name, way, asks, home, ...command] = process.argv.slice(2)
const old = name === "sdk"
const root = "@modelcontextprotocol/"
const { Client } = await import(old ? `${root}sdk/client/index.js` : `${root}client`)
const capabilities = asks === "asks" ? { elicitation: {} } : {}
const more = old || way === "stdio" ? {} : { versionNegotiation: { mode: "auto" } }
const client = new Client({ name: "official", version: "1" }, { capabilities, ...more })
const asked = []
const answer = async (request) => {
  asked.push(request.params.message)
  return { action: "accept", content: { answer: "once" } }
}
if (asks === "asks") {
  if (old) client.setRequestHandler((await import(`${root}sdk/types.js`)).ElicitRequestSchema, answer)
  else client.setRequestHandler("elicitation/create", answer)
}

async function transport() {
  if (way === "stdio") {
    const { StdioClientTransport } = await import(old ? `${root}sdk/client/stdio.js` : `${root}client/stdio`)
    return new StdioClientTransport({ command: command[0], args: command.slice(1), env: { HOME: home, PATH: process.env.PATH } })
  }
  const { StreamableHTTPClientTransport } = await import(old ? `${root}sdk/client/streamableHttp.js` : `${root}client`)
  const headers = { Authorization: `Bearer ${process.env.TOKEN}` }
  return new StreamableHTTPClientTransport(new URL(way), { requestInit: { headers } })
}

await client.connect(await transport())
const { tools } = await client.listTools()
const call = (tool, args, options) => old ? client.callTool({ name: tool, arguments: args }, undefined, options) : client.callTool({ name: tool, arguments: args }, options)
const done = [
  await call("write", { filePath: "a.txt", content: "one\n" }),
  await call("edit", { filePath: "a.txt", oldString: "one", newString: "two" }),
  await call("revert", {}),
]
const stop = new AbortController()
const waiting = call("bash", { command: `echo begun > begun; sleep ${process.env.SECONDS_TO_WAIT}`, description: "waits" }, { signal: stop.signal }).then(() => "ended", () => "cancelled")
const fs = await import("node:fs")
while (asks === "asks" && !fs.existsSync("begun")) await new Promise((next) => setTimeout(next, 20))
stop.abort()
const cancelled = await waiting
console.log(JSON.stringify({ tools: tools.map((one) => one.name), errors: done.map((one) => Boolean(one.isError)), asked, cancelled }))
await client.close()
process.exit(0)
