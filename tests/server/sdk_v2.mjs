// The same with the second generation, over the stream of all folders.
const [, , entry, baseUrl] = process.argv
const { createOpencodeClient } = await import(entry)
const client = createOpencodeClient({ baseUrl })
const seen = {}
const must = (answer) => {
  if (answer.error) throw new Error(JSON.stringify(answer.error))
  return answer.data
}
const events = await client.global.event()
const kinds = []
const waiting = []
;(async () => {
  for await (const event of events.stream) {
    kinds.push(event.payload.type)
    for (const one of [...waiting])
      if (one.type === event.payload.type) {
        waiting.splice(waiting.indexOf(one), 1)
        one.resolve(event.payload.properties)
      }
  }
})()
const next = (type) => new Promise((resolve) => waiting.push({ type, resolve }))

const session = must(await client.session.create({ title: "from sdk" }))
const sessionID = session.id
const parts = (text) => [{ type: "text", text }]
let asked = next("permission.asked")
let answering = client.session.prompt({ sessionID, parts: parts("edit it") })
let request = await asked
must(await client.permission.reply({ requestID: request.id, reply: "once" }))
const first = must(await answering)
seen.answer = first.parts.filter((part) => part.type === "text").map((part) => part.text)
seen.diff = must(await client.session.diff({ sessionID })).map((one) => one.file)
seen.reverted = Boolean(must(await client.session.revert({ sessionID, messageID: first.info.parentID })).revert)
seen.unreverted = !must(await client.session.unrevert({ sessionID })).revert

asked = next("permission.asked")
answering = client.session.prompt({ sessionID, parts: parts("edit again") })
await asked
seen.open = must(await client.permission.list()).length
seen.aborted = must(await client.session.abort({ sessionID }))
seen.abortError = must(await answering).info.error?.name
seen.found = must(await client.find.files({ query: "a.p" }))
seen.missing = (await client.session.get({ sessionID: "ses_nope" })).response.status
seen.deleted = must(await client.session.delete({ sessionID }))
seen.kinds = [...new Set(kinds)]
console.log(JSON.stringify(seen))
process.exit(0)
