// The conversation: messages and their parts, each redrawn only when it changes.
import { $, el } from "./dom.js"
import { diff, markdown } from "./text.js"

const parts = new Map()
const shown = new Map()

export function clear() {
  parts.clear()
  shown.clear()
  $("conversation").replaceChildren()
}

const near = () => {
  const box = $("conversation")
  return box.scrollHeight - box.scrollTop - box.clientHeight < 120
}

function keepDown(work) {
  const follow = near()
  work()
  if (follow) $("conversation").scrollTop = $("conversation").scrollHeight
}

export function message(info) {
  keepDown(() => {
    const box = $("conversation")
    let row = shown.get(info.id)
    if (!row) {
      row = el("article", { class: info.role, "data-id": info.id })
      shown.set(info.id, row)
      const after = [...box.children].find((one) => one.dataset.id > info.id)
      box.insertBefore(row, after ?? null)
    }
    row.querySelector(":scope > .error")?.remove()
    if (info.error) {
      const words = info.error.name === "MessageAbortedError" ? "stopped" : info.error.data?.message
      row.append(el("p", { class: "error" }, words ?? info.error.name))
    }
  })
}

export function removed(id) {
  shown.get(id)?.remove()
  shown.delete(id)
}

export function part(value) {
  const known = parts.get(value.id)
  parts.set(value.id, { ...known, value })
  draw(value)
}

export function delta({ partID, field, delta: more }) {
  const known = parts.get(partID)
  if (!known || field !== "text") return
  known.value = { ...known.value, text: known.value.text + more }
  if (known.waits) return
  known.waits = true
  requestAnimationFrame(() => {
    known.waits = false
    draw(known.value)
  })
}

export function partRemoved(id) {
  document.getElementById(id)?.remove()
  parts.delete(id)
}

function draw(value) {
  const row = shown.get(value.messageID)
  if (!row) return
  const fresh = element(value)
  keepDown(() => {
    const old = document.getElementById(value.id)
    if (!fresh) return old?.remove()
    fresh.id = value.id
    if (old) {
      if (old.open && "open" in fresh) fresh.open = true
      old.replaceWith(fresh)
    } else {
      const after = [...row.children].find((one) => one.id > value.id || one.classList.contains("error"))
      row.insertBefore(fresh, after ?? null)
    }
  })
}

function element(value) {
  switch (value.type) {
    case "text":
      return value.synthetic || !value.text ? null : markdown(value.text)
    case "reasoning":
      return value.text ? el("details", { class: "thought" }, el("summary", {}, "thought"), markdown(value.text)) : null
    case "file":
      return el("p", { class: "file" }, value.filename ?? value.mime)
    case "tool":
      return call(value)
    default:
      return null
  }
}

function call({ tool, state }) {
  const input = state.input ?? {}
  const what = input.command ?? input.filePath ?? input.path ?? input.pattern ?? input.url ?? input.description ?? ""
  const meta = state.metadata ?? {}
  const head = el("summary", {}, el("span", { class: `state ${state.status}` }), el("b", {}, tool), " ", el("code", {}, what))
  const body = []
  if (typeof meta.diff === "string" && meta.diff) body.push(diff(meta.diff))
  for (const file of meta.files ?? []) if (file.diff) body.push(diff(file.diff))
  const output = state.error ?? (body.length ? "" : (state.output ?? meta.output ?? ""))
  if (output) body.push(el("pre", { class: state.error ? "error" : "" }, output.slice(-30000)))
  return el("details", { class: "call", open: Boolean(body[0]?.classList?.contains("diff")) }, head, body)
}
