// Requests to the server that this page came from, about the folder that is chosen.
export class Failed extends Error {
  constructor(message, status = 0, name = "Failed") {
    super(message)
    this.status = status
    this.name = name
  }
}

const SILENT = "The server does not answer. Is tw serve still running?"
const KEPT = "page key"
let folder = ""

export const setFolder = (directory) => (folder = directory)

const within = (path) =>
  folder ? `${path}${path.includes("?") ? "&" : "?"}directory=${encodeURIComponent(folder)}` : path

// The key to the server is kept with the origin of this page, which a port is part of, and goes out in a header.
// A cookie would go to whatever listens on any port of this host.
const bearer = (secret) =>
  secret ? { authorization: `Bearer ${String.fromCharCode(...new TextEncoder().encode(secret))}` } : {}
/** @type {(headers: Record<string, string>) => RequestInit} */
const options = (headers) => ({
  headers: { ...bearer(localStorage.getItem(KEPT)), ...headers },
  credentials: "omit",
  cache: "no-store",
})

// Trade the server's secret for the key of its page, and keep that; without a secret, see whether there is a need for one.
export async function enter(secret = "") {
  const { key } = await answered(fetch("/tw/page/key", options(bearer(secret))))
  if (key) localStorage.setItem(KEPT, key)
}

export async function ask(method, path, body) {
  const given = body === undefined ? {} : { body: JSON.stringify(body) }
  const kind = body === undefined ? {} : { "content-type": "application/json" }
  return answered(fetch(within(path), { method, ...options(kind), ...given }))
}

export const get = (path) => ask("GET", path)
export const post = (path, body = {}) => ask("POST", path, body)

async function answered(request) {
  const answer = await reached(request)
  const text = await reached(answer.text())
  let value = null
  try {
    value = text.trim() ? JSON.parse(text) : null
  } catch {
    throw new Failed(`The server answered ${answer.status} with something that is not JSON.`, answer.status)
  }
  if (!answer.ok)
    throw new Failed(value?.data?.message ?? `The server answered ${answer.status}.`, answer.status, value?.name)
  return value
}

async function reached(work) {
  try {
    return await work
  } catch {
    throw new Failed(SILENT)
  }
}

// The events of a stream, each with its number, from the one after `last` on. Returns when the stream has ended.
export async function follow(path, last, opened, hear) {
  const answer = await reached(fetch(path, options(last ? { "last-event-id": last } : {})))
  if (!answer.ok) throw new Failed(`The server answered ${answer.status}.`, answer.status)
  opened()
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  for (;;) {
    const { done, value } = await reached(reader.read())
    if (done) return
    const frames = (rest + value).split("\n\n")
    rest = frames.pop()
    for (const frame of frames) {
      const fields = Object.fromEntries(frame.split("\n").map((line) => line.split(/: (.*)/s, 2)))
      hear(fields.id ?? "", JSON.parse(fields.data))
    }
  }
}
