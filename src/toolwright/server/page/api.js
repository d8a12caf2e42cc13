// Requests to the server that this page came from.
export class Failed extends Error {}

export async function ask(method, path, body) {
  const options = { method, headers: {} }
  if (body !== undefined) {
    options.headers["content-type"] = "application/json"
    options.body = JSON.stringify(body)
  }
  let answer
  try {
    answer = await fetch(path, options)
  } catch {
    throw new Failed("The server does not answer. Is tw serve still running?")
  }
  if (answer.status === 401) location.reload()
  const text = await answer.text()
  const value = text.trim() ? JSON.parse(text) : null
  if (!answer.ok) throw new Failed(value?.data?.message ?? `The server said ${answer.status}.`)
  return value
}

export const get = (path) => ask("GET", path)
export const post = (path, body = {}) => ask("POST", path, body)
