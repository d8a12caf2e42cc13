// Requests to the server that this page came from, about the folder that is chosen.
export class Failed extends Error {
  constructor(message, status = 0) {
    super(message)
    this.status = status
  }
}

let folder = ""

export const setFolder = (directory) => (folder = directory)

const within = (path) => (folder ? `${path}${path.includes("?") ? "&" : "?"}directory=${encodeURIComponent(folder)}` : path)

export async function ask(method, path, body) {
  const options = { method, headers: {} }
  if (body !== undefined) {
    options.headers["content-type"] = "application/json"
    options.body = JSON.stringify(body)
  }
  let answer
  try {
    answer = await fetch(within(path), options)
  } catch {
    throw new Failed("The server does not answer. Is tw serve still running?")
  }
  if (answer.status === 401) location.reload()
  const text = await answer.text()
  let value = null
  try {
    value = text.trim() ? JSON.parse(text) : null
  } catch {
    throw new Failed(`The server answered ${answer.status} with something that is not JSON.`, answer.status)
  }
  if (!answer.ok) throw new Failed(value?.data?.message ?? `The server answered ${answer.status}.`, answer.status)
  return value
}

export const get = (path) => ask("GET", path)
export const post = (path, body = {}) => ask("POST", path, body)
