// A whole session with the first generation of the JavaScript SDK; prints what it saw as JSON.
const [, , entry, baseUrl] = process.argv
const { createOpencodeClient } = await import(entry)
const client = createOpencodeClient({ baseUrl })
const seen = {}
const must = (answer) => {
  if (answer.error) throw new Error(JSON.stringify(answer.error))
  return answer.data
}
const events = await client.event.subscribe()
const kinds = []
const waiting = []
;(async () => {
  for await (const event of events.stream) {
    kinds.push(event.type)
    for (const one of [...waiting])
      if (one.type === event.type) {
        waiting.splice(waiting.indexOf(one), 1)
        one.resolve(event.properties)
      }
  }
})()
const next = (type) => new Promise((resolve) => waiting.push({ type, resolve }))

seen.providers = must(await client.config.providers()).providers.length
seen.agents = must(await client.app.agents()).map((one) => one.name)
seen.keybinds = Object.keys(must(await client.config.get()).keybinds).length
const session = must(await client.session.create({ body: { title: "from sdk" } }))
const path = { id: session.id }
const parts = (text) => ({ parts: [{ type: "text", text }] })

let asked = next("permission.asked")
let answering = client.session.prompt({ path, body: parts("edit it") })
let request = await asked
seen.permission = request.permission
must(
  await client.postSessionIdPermissionsPermissionId({
    path: { id: session.id, permissionID: request.id },
    body: { response: "once" },
  }),
)
const first = must(await answering)
seen.answer = first.parts.filter((part) => part.type === "text").map((part) => part.text)
seen.diff = must(await client.session.diff({ path })).map((one) => one.file)
seen.reverted = Boolean(must(await client.session.revert({ path, body: { messageID: first.info.parentID } })).revert)
seen.unreverted = !must(await client.session.unrevert({ path })).revert

asked = next("permission.asked")
answering = client.session.prompt({ path, body: parts("edit again") })
await asked
seen.aborted = must(await client.session.abort({ path }))
seen.abortError = must(await answering).info.error?.name
const messages = must(await client.session.messages({ path }))
seen.sorted = messages.every((one, at) => at === 0 || messages[at - 1].info.id < one.info.id)
seen.files = must(await client.file.list({ query: { path: "." } })).map((one) => one.name)
seen.missing = (await client.session.get({ path: { id: "ses_nope" } })).response.status
seen.deleted = must(await client.session.delete({ path }))
seen.kinds = [...new Set(kinds)]
console.log(JSON.stringify(seen))
process.exit(0)
