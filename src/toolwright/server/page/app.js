// The page: sessions at the side, one conversation, a prompt; kept up to date by the server's events.
import { Failed, ask, get, post } from "./api.js"
import * as conversation from "./conversation.js"
import * as dialogs from "./dialogs.js"
import { $, el } from "./dom.js"
import { diff } from "./text.js"

const state = { sessions: new Map(), status: {}, current: "", commands: [], providers: [], files: [], history: [], at: 0, tokens: {} }

const note = (text) => ($("note").textContent = text)
const guarded = (work) => async (...given) => {
  try {
    await work(...given)
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    note(error.message)
  }
}

// Sessions.

function drawSessions() {
  const wanted = $("search").value.toLowerCase()
  const waiting = dialogs.sessionsWaiting()
  const rows = [...state.sessions.values()]
    .filter((one) => !one.parentID && one.title.toLowerCase().includes(wanted))
    .sort((one, other) => waiting.has(other.id) - waiting.has(one.id) || other.time.updated - one.time.updated)
    .slice(0, 200)
  $("sessions").replaceChildren(
    ...rows.map((one) =>
      el(
        "li",
        {},
        el(
          "button",
          { type: "button", "aria-current": String(one.id === state.current), onclick: () => select(one.id) },
          one.title,
          waiting.has(one.id) ? el("span", { class: "badge" }, "waits") : state.status[one.id] ? el("span", { class: "badge" }, "works") : null,
        ),
      ),
    ),
  )
  const busy = Boolean(state.status[state.current])
  $("stop").hidden = !busy
  $("title").textContent = state.sessions.get(state.current)?.title ?? ""
  document.title = waiting.size ? "● toolwright" : "toolwright"
}

const select = guarded(async (id) => {
  state.current = id
  location.hash = id
  document.body.classList.remove("menu")
  conversation.clear()
  drawSessions()
  if (!id) return $("prompt").focus()
  const [messages, todos, changes] = await Promise.all([
    get(`/session/${id}/message?limit=200`),
    get(`/session/${id}/todo`),
    get(`/session/${id}/diff`),
  ])
  if (state.current !== id) return
  for (const { info, parts } of messages) {
    conversation.message(info)
    parts.forEach(conversation.part)
    if (info.tokens) use(info)
  }
  drawAside(todos, changes)
  $("undo").hidden = !messages.length
  $("prompt").focus()
})

function use(info) {
  const sum = info.tokens.input + info.tokens.output + info.tokens.reasoning + info.tokens.cache.read + info.tokens.cache.write
  const limit = state.providers.find((one) => one.id === info.providerID)?.models[info.modelID]?.limit.context
  const part = limit ? ` · ${Math.round((100 * sum) / limit)}% of the context` : ""
  if (sum) $("use").textContent = `${sum.toLocaleString()} tokens${part}${info.cost ? ` · $${info.cost.toFixed(4)}` : ""}`
}

function drawAside(todos, changes) {
  if (todos) state.todos = todos
  if (changes) state.changes = changes
  const marks = { completed: "☑", in_progress: "▸", cancelled: "☒" }
  $("aside").replaceChildren(
    ...(state.todos?.length ? [el("h3", {}, "Todo"), el("ul", {}, state.todos.map((one) => el("li", {}, `${marks[one.status] ?? "☐"} ${one.content}`)))] : []),
    ...(state.changes?.length
      ? [el("h3", {}, "Changed files"), el("ul", {}, state.changes.map((one) => el("li", {}, el("code", {}, one.file), ` +${one.additions} −${one.deletions}`)))]
      : []),
  )
}

// Events.

function hear({ type, properties }) {
  const here = (id) => id === state.current
  switch (type) {
    case "session.created":
    case "session.updated":
      state.sessions.set(properties.info.id, properties.info)
      return drawSessions()
    case "session.deleted":
      state.sessions.delete(properties.info.id)
      return here(properties.info.id) ? select("") : drawSessions()
    case "session.status":
      if (properties.status.type === "idle") delete state.status[properties.sessionID]
      else state.status[properties.sessionID] = properties.status
      if (here(properties.sessionID)) note(properties.status.type === "retry" ? properties.status.message : "")
      return drawSessions()
    case "session.diff":
      return here(properties.sessionID) && drawAside(null, properties.diff)
    case "todo.updated":
      return here(properties.sessionID) && drawAside(properties.todos, null)
    case "message.updated":
      if (!here(properties.info.sessionID)) return
      $("undo").hidden = false
      if (properties.info.tokens) use(properties.info)
      return conversation.message(properties.info)
    case "message.removed":
      return conversation.removed(properties.messageID)
    case "message.part.updated":
      return here(properties.part.sessionID) && conversation.part(properties.part)
    case "message.part.delta":
      return here(properties.sessionID) && conversation.delta(properties)
    case "message.part.removed":
      return conversation.partRemoved(properties.partID)
    case "permission.asked":
      dialogs.ask("permission", properties)
      return drawSessions()
    case "question.asked":
      dialogs.ask("question", properties)
      return drawSessions()
    case "permission.replied":
    case "question.replied":
    case "question.rejected":
      dialogs.settled(properties.requestID)
      return drawSessions()
    case "server.instance.disposed":
      return start()
  }
}

function listen() {
  const source = new EventSource("/event?deltas=1")
  source.onmessage = (event) => hear(JSON.parse(event.data))
  source.onerror = () => note("The connection is broken; trying again.")
  source.onopen = () => note("")
}

// The prompt.

const send = guarded(async () => {
  const text = $("prompt").value.trim()
  if (!text && !state.files.length) return
  if (!state.current) {
    const made = await post("/session", {})
    state.sessions.set(made.id, made)
    await select(made.id)
  }
  const id = state.current
  const [providerID, ...rest] = $("model").value.split("/")
  const model = providerID ? { providerID, modelID: rest.join("/") } : undefined
  const agent = $("agent").value
  const command = text.match(/^\/(\S+)\s*([\s\S]*)$/)
  state.history.push(text)
  state.at = state.history.length
  $("prompt").value = ""
  localStorage.removeItem("prompt")
  resize()
  if (command && state.commands.some((one) => one.name === command[1])) {
    await post(`/session/${id}/command`, { command: command[1], arguments: command[2], agent, model: $("model").value })
    return
  }
  const mentioned = [...text.matchAll(/(?:^|\s)@(\S+)/g)].map(([, path]) => ({
    type: "file",
    mime: "text/plain",
    filename: path,
    url: `file://${encodeURI(state.directory)}/${encodeURI(path)}`,
  }))
  const parts = [...(text ? [{ type: "text", text }] : []), ...mentioned.filter((one) => state.known?.has(one.filename)), ...state.files]
  state.files = []
  $("files").replaceChildren()
  await post(`/session/${id}/prompt_async`, { parts, agent, model })
})

function resize() {
  const box = $("prompt")
  box.style.height = "auto"
  box.style.height = `${Math.min(box.scrollHeight, 240)}px`
}

let completing = 0
const complete = guarded(async () => {
  const box = $("prompt")
  const before = box.value.slice(0, box.selectionStart)
  const number = ++completing
  const slash = before.match(/^\/(\S*)$/)
  const at = before.match(/(?:^|\s)@(\S*)$/)
  let found = []
  if (slash) found = state.commands.filter((one) => one.name.startsWith(slash[1])).map((one) => ({ text: `/${one.name} `, shown: `/${one.name}  ${one.description ?? ""}` }))
  else if (at) {
    const paths = await get(`/find/file?limit=8&query=${encodeURIComponent(at[1])}`)
    state.known = new Set([...(state.known ?? []), ...paths])
    found = paths.map((path) => ({ text: `@${path} `, shown: path }))
  }
  if (number !== completing) return
  const length = (slash ? slash[1] : (at?.[1] ?? "")).length + 1
  $("complete").hidden = !found.length
  $("complete").replaceChildren(
    ...found.map((one) =>
      el("li", { role: "option", onclick: () => {
        box.setRangeText(one.text, box.selectionStart - length, box.selectionStart, "end")
        $("complete").hidden = true
        box.focus()
      } }, one.shown),
    ),
  )
})

async function attach(list) {
  for (const file of list) {
    const url = await new Promise((resolve) => {
      const reader = new FileReader()
      reader.onload = () => resolve(reader.result)
      reader.readAsDataURL(file)
    })
    state.files.push({ type: "file", mime: file.type || "text/plain", filename: file.name, url })
    $("files").append(el("span", { class: "file" }, file.name))
  }
}

const undo = guarded(async () => {
  const messages = await get(`/session/${state.current}/message?limit=50`)
  const mark = state.sessions.get(state.current)?.revert
  if (mark) {
    await post(`/session/${state.current}/unrevert`)
    return note("Made again.")
  }
  const last = messages.filter((one) => one.info.role === "user").at(-1)
  if (!last) return
  const preview = await post(`/tw/session/${state.current}/revert`, { turn: last.info.id, preview: true }).catch(() => ({ diff: "" }))
  const box = $("dialog")
  box.setAttribute("aria-label", "Undo")
  const leave = () => box.close()
  box.replaceChildren(
    el("h3", {}, "Undo the last turn?"),
    preview.diff ? diff(preview.diff) : el("p", {}, "No file changes."),
    el(
      "footer",
      {},
      el("button", { type: "button", class: "main", onclick: guarded(async () => {
        leave()
        await post(`/session/${state.current}/revert`, { messageID: last.info.id })
        note("Undone. Undo again to restore.")
      }) }, "Undo it"),
      el("button", { type: "button", onclick: leave }, "Leave it"),
    ),
  )
  box.showModal()
})

function wire() {
  $("form").addEventListener("submit", (event) => {
    event.preventDefault()
    send()
  })
  $("prompt").addEventListener("keydown", (event) => {
    const first = $("complete").hidden ? null : $("complete").firstElementChild
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault()
      first ? first.click() : send()
    } else if (event.key === "Tab" && first) {
      event.preventDefault()
      first.click()
    } else if (event.key === "Escape") {
      if (first) $("complete").hidden = true
      else $("stop").click()
    } else if (event.key === "ArrowUp" && !$("prompt").value && state.at > 0) $("prompt").value = state.history[--state.at]
  })
  $("prompt").addEventListener("input", () => {
    localStorage.setItem("prompt", $("prompt").value)
    resize()
    complete()
  })
  $("prompt").addEventListener("paste", (event) => attach(event.clipboardData.files))
  document.addEventListener("dragover", (event) => event.preventDefault())
  document.addEventListener("drop", (event) => {
    event.preventDefault()
    attach(event.dataTransfer.files)
  })
  $("stop").addEventListener("click", guarded(() => post(`/session/${state.current}/abort`)))
  $("new").addEventListener("click", () => select(""))
  $("undo").addEventListener("click", undo)
  $("menu").addEventListener("click", () => document.body.classList.toggle("menu"))
  $("search").addEventListener("input", drawSessions)
  $("dialog").addEventListener("cancel", (event) => {
    if ($("dialog").getAttribute("aria-label") !== "Undo") event.preventDefault()
  })
}

const start = guarded(async () => {
  const [path, sessions, status, agents, providers, commands, config, permissions, questions] = await Promise.all(
    ["/path", "/session?limit=300", "/session/status", "/agent", "/config/providers", "/command", "/config", "/permission", "/question"].map(get),
  )
  Object.assign(state, { directory: path.directory, status, commands, providers: providers.providers })
  state.sessions = new Map(sessions.map((one) => [one.id, one]))
  $("agent").replaceChildren(...agents.filter((one) => one.mode !== "subagent" && !one.hidden).map((one) => el("option", { value: one.name }, one.name)))
  $("model").replaceChildren(
    ...state.providers.flatMap((one) => Object.values(one.models).map((model) => el("option", { value: `${one.id}/${model.id}`, selected: `${one.id}/${model.id}` === config.model }, model.name))),
  )
  permissions.forEach((one) => dialogs.ask("permission", one))
  questions.forEach((one) => dialogs.ask("question", one))
  await select(state.sessions.has(location.hash.slice(1)) ? location.hash.slice(1) : "")
})

wire()
$("prompt").value = localStorage.getItem("prompt") ?? ""
listen()
start()
