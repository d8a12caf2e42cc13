// The state of the page: filled at the start, kept up to date by the server's events, drawn when it has changed.
import { Failed, ask, enter, follow, get, post, setFolder } from "./api.js"
import { visible } from "./ui.js"

export const state = {
  ready: false,
  locked: null, // or why the secret is asked for
  directory: "",
  home: "",
  folders: [],
  sessions: new Map(),
  status: {},
  current: "",
  messages: new Map(),
  order: [],
  limit: 0,
  complete: true,
  loading: false,
  todos: [],
  changes: [],
  questions: [],
  later: new Set(),
  elsewhere: new Map(),
  agents: [],
  providers: [],
  commands: [],
  doctor: null,
  chosen: { agent: "", model: "", variant: "", goal: "" },
  usual: "",
  search: "",
  hits: new Map(),
  note: "",
  toast: null,
  panel: null,
  connected: true,
  drawer: "",
}

const PAGE = 100
const PAUSE = 2000
const watchers = new Set()
let due = false

export function watch(watcher) {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export function changed(work) {
  work?.()
  if (due) return
  due = true
  const draw = () => {
    due = false
    tell()
    for (const watcher of watchers) watcher()
  }
  if (document.hidden) setTimeout(draw)
  else requestAnimationFrame(draw)
}

function tell() {
  const waiting = state.questions.length + [...state.elsewhere.values()].reduce((sum, count) => sum + count, 0)
  const title = state.sessions.get(state.current)?.title
  document.title = visible(`${waiting ? `(${waiting}) ` : ""}${title ? `${title} · ` : ""}toolwright`)
}

export const guarded =
  (work) =>
  async (...given) => {
    try {
      return await work(...given)
    } catch (error) {
      if (!(error instanceof Failed)) throw error
      if (!lock(error)) complain(error.message)
    }
  }

// Shows the error in an open dialog, too.
export const complain = (text) => say(text, undefined, text)

let fading
export function say(text, action, wrong) {
  clearTimeout(fading)
  changed(() => (state.toast = text ? { text, action, wrong } : null))
  if (text) fading = setTimeout(() => changed(() => (state.toast = null)), action ? 12000 : 6000)
}

// The start: with the secret that stands in the address or that a person has typed, or with what is kept.

export async function start(secret) {
  try {
    await enter(secret)
    changed(() => (state.locked = null))
    listen()
    await begin()
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    if (lock(error, secret)) return
    say(error.message)
    setTimeout(() => start(secret), PAUSE)
  }
}

// True if the page has to ask for the secret: it has none, or the server has another by now.
function lock(error, secret) {
  const wrong = error.status === 401 || (error.status === 429 && !state.ready)
  if (wrong)
    changed(
      () =>
        (state.locked = error.status === 429 ? error.message : secret ? "That is not the secret of this server." : ""),
    )
  return wrong
}

async function begin() {
  const named = location.hash.split("@")[1]
  if (named) setFolder(decodeURIComponent(named))
  const [folders, path] = await Promise.all([get("/tw/folders"), get("/path")])
  state.folders = folders
  state.directory = path.directory
  state.home = path.home
  setFolder(path.directory)
  for (const one of folders)
    if (one.directory !== path.directory && one.waiting) state.elsewhere.set(one.directory, one.waiting)
  await loadAll()
  changed(() => (state.ready = true))
}

export const load = guarded(loadAll)

async function loadAll() {
  const paths = [
    "/session?limit=500",
    "/session/status",
    "/agent",
    "/config/providers",
    "/tw/commands",
    "/config",
    "/permission",
    "/question",
    "/tw/doctor",
  ]
  const wanted = await snapshot(Promise.all(paths.map(get)), take)
  await select(wanted)
}

function take([sessions, status, agents, providers, commands, config, permissions, questions, doctor]) {
  Object.assign(state, { status, commands, doctor, agents, providers: providers.providers, questions: [] })
  state.sessions = new Map(sessions.map((one) => [one.id, one]))
  for (const one of permissions) asked("permission", one)
  for (const one of questions) asked("question", one)
  const kept = localStorage.getItem("model") ?? ""
  const known = (name) =>
    state.providers.some((one) => Object.values(one.models).some((model) => `${one.id}/${model.id}` === name))
  if (!known(state.chosen.model)) state.chosen.model = known(kept) ? kept : ""
  state.usual = known(config.model) ? config.model : ""
  const primary = agents.filter((one) => one.mode !== "subagent" && !one.hidden)
  if (!primary.some((one) => one.name === state.chosen.agent))
    state.chosen.agent = primary.find((one) => one.name === "build")?.name ?? primary[0]?.name ?? ""
}

// Events that come while an answer is on its way may be newer than the answer: they are applied again after it.
let heard = []
let underWay = 0

async function snapshot(work, apply) {
  const from = heard.length
  underWay++
  try {
    const found = await work
    changed(() => {
      apply(found)
      for (const [type, properties] of heard.slice(from)) act(type, properties, true)
    })
    const id = state.current || location.hash.slice(1).split("@")[0]
    return state.sessions.has(id) ? id : ""
  } finally {
    if (!--underWay) heard = []
  }
}

export const openFolder = guarded(async (directory) => {
  setFolder(directory)
  state.directory = directory
  state.current = null
  state.elsewhere.delete(directory)
  location.hash = ""
  await load()
})

// Sessions.

// Those whose title has the words are there at once; the server looks for those in which they were said.
let looking
export function lookFor(text) {
  clearTimeout(looking)
  changed(() => {
    state.search = text
    if (!text.trim()) state.hits = new Map()
  })
  if (text.trim().length < 3) return
  looking = setTimeout(
    guarded(async () => {
      const found = await get(`/tw/search?words=${encodeURIComponent(text)}`)
      if (state.search !== text) return
      changed(() => {
        for (const { info } of found) if (!state.sessions.has(info.id)) state.sessions.set(info.id, info)
        state.hits = new Map(found.map(({ info, passage }) => [info.id, passage]))
      })
    }),
    200,
  )
}

export const select = guarded(async (id) => {
  const other = state.current !== id
  changed(() => {
    state.current = id
    if (other)
      Object.assign(state, {
        messages: new Map(),
        order: [],
        todos: [],
        changes: [],
        note: "",
        limit: 0,
        complete: true,
      })
    state.drawer = ""
  })
  const hash = id && state.folders.length > 1 ? `${id}@${encodeURIComponent(state.directory)}` : id
  if (location.hash.slice(1) !== hash) history.replaceState(null, "", hash ? `#${hash}` : location.pathname)
  if (id) await Promise.all([fetchMessages(Math.max(PAGE, state.limit)), refreshWork(id), other ? goOn(id) : null])
})

// A session goes on with who answered in it last.
async function goOn(id) {
  const { agent, model, variant } = await get(`/tw/session/${id}/choice`)
  if (state.current === id)
    changed(() => Object.assign(state, { usual: model, chosen: { agent, model: "", variant, goal: "" } }))
}

async function refreshWork(id) {
  const [todos, changes] = await Promise.all([get(`/session/${id}/todo`), get(`/session/${id}/diff`)])
  if (state.current === id) changed(() => Object.assign(state, { todos, changes }))
}

async function fetchMessages(limit) {
  const id = state.current
  state.loading = true
  try {
    await snapshot(get(`/session/${id}/message?limit=${limit}`), (found) => {
      if (state.current !== id) return
      state.messages = new Map(found.map(({ info, parts }) => [info.id, { info, parts: [...parts].sort(byId) }]))
      state.order = [...state.messages.keys()].sort()
      Object.assign(state, { limit, complete: found.length < limit })
    })
  } finally {
    state.loading = false
  }
}

export const earlier = guarded(async () => {
  if (!state.complete && !state.loading) await fetchMessages(state.limit * 4)
})

export const waitingIn = () =>
  new Set(state.questions.flatMap((one) => [one.request.sessionID, ...above(one.request.sessionID)]))

export function above(id) {
  const found = []
  for (
    let one = state.sessions.get(id);
    one?.parentID && !found.includes(one.parentID);
    one = state.sessions.get(one.parentID)
  )
    found.push(one.parentID)
  return found
}

export const below = (id) =>
  [...state.sessions.values()]
    .filter((one) => one.parentID === id)
    .sort((one, other) => one.time.created - other.time.created)

export const fromHome = (path) =>
  state.home && path.startsWith(`${state.home}/`) ? `~${path.slice(state.home.length)}` : path

// Messages.

const byId = (one, other) => (one.id < other.id ? -1 : 1)

function placeOf(list, id) {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (list[middle] < id) low = middle + 1
    else high = middle
  }
  return low
}

function putMessage(info) {
  const known = state.messages.get(info.id)
  if (!known) state.order.splice(placeOf(state.order, info.id), 0, info.id)
  state.messages.set(info.id, { info, parts: known?.parts ?? [] })
}

function putPart(part) {
  const message = state.messages.get(part.messageID)
  if (!message) return
  const at = message.parts.findIndex((one) => one.id >= part.id)
  const parts = [...message.parts]
  if (at >= 0 && parts[at].id === part.id) parts[at] = part
  else parts.splice(at < 0 ? parts.length : at, 0, part)
  state.messages.set(part.messageID, { ...message, parts })
}

function grow({ messageID, partID, field, delta }) {
  const part = state.messages.get(messageID)?.parts.find((one) => one.id === partID)
  if (part && field === "text") putPart({ ...part, text: part.text + delta })
}

// Questions.

function asked(kind, request) {
  if (!state.questions.some((one) => one.request.id === request.id)) state.questions.push({ kind, request })
}

function settled(id) {
  state.questions = state.questions.filter((one) => one.request.id !== id)
  state.later.delete(id)
}

// Events.

const asking = (type) => type === "permission.asked" || type === "question.asked"
const answered = (type) => type === "permission.replied" || type === "question.replied" || type === "question.rejected"

function hearElsewhere(directory, type) {
  const waiting = state.elsewhere.get(directory) ?? 0
  if (asking(type)) {
    changed(() => state.elsewhere.set(directory, waiting + 1))
    notify("The agent asks something", directory)
  } else if (answered(type)) changed(() => state.elsewhere.set(directory, Math.max(0, waiting - 1)))
}

function hear(directory, { type, properties }) {
  if (directory && directory !== state.directory) return hearElsewhere(directory, type)
  if (type === "server.connected" || type === "server.heartbeat") return
  if (type === "server.instance.disposed" || type === "global.disposed") return load()
  // A piece of a text cannot be added twice; the whole of it follows.
  if (underWay && type !== "message.part.delta") heard.push([type, properties])
  changed(() => act(type, properties))
}

/** The line below the conversation while a session works: a notice, or why it waits and for how long. */
function noteOf(status) {
  if (status.type === "retry") return `${status.message} (${status.wait ?? "trying again"})`
  return status.notice ?? ""
}

function act(type, properties, again = false) {
  const here = (id) => id === state.current
  switch (type) {
    case "session.created":
    case "session.updated":
      return state.sessions.set(properties.info.id, properties.info)
    case "session.deleted":
      state.sessions.delete(properties.info.id)
      return here(properties.info.id) && select("")
    case "session.status":
      if (properties.status.type === "idle") delete state.status[properties.sessionID]
      else state.status[properties.sessionID] = properties.status
      if (here(properties.sessionID)) state.note = noteOf(properties.status)
      return
    case "session.idle": {
      const info = state.sessions.get(properties.sessionID)
      return !again && info && !info.parentID && notify("Done", info.title)
    }
    case "session.error":
      if (!again && properties.error?.name !== "MessageAbortedError" && (!properties.sessionID || !state.messages.size))
        say(properties.error?.data?.message ?? "The turn failed.")
      return
    case "session.agent":
      return here(properties.sessionID) && (state.chosen.agent = properties.agent)
    case "session.diff":
      return here(properties.sessionID) && (state.changes = properties.diff)
    case "todo.updated":
      return here(properties.sessionID) && (state.todos = properties.todos)
    case "message.updated":
      return here(properties.info.sessionID) && putMessage(properties.info)
    case "message.removed":
      state.order = state.order.filter((one) => one !== properties.messageID)
      return state.messages.delete(properties.messageID)
    case "message.part.updated":
      return here(properties.part.sessionID) && putPart(properties.part)
    case "message.part.delta":
      return here(properties.sessionID) && grow(properties)
    case "message.part.removed": {
      const message = state.messages.get(properties.messageID)
      return (
        message &&
        state.messages.set(properties.messageID, {
          ...message,
          parts: message.parts.filter((one) => one.id !== properties.partID),
        })
      )
    }
    case "permission.asked":
    case "question.asked":
      asked(type.split(".")[0], properties)
      return !again && notify("The agent asks something", state.sessions.get(properties.sessionID)?.title ?? "")
    case "permission.replied":
    case "question.replied":
    case "question.rejected":
      return settled(properties.requestID)
    case "tui.toast.show":
      return say(properties.message)
    case "tui.session.select":
      return select(properties.sessionID)
  }
}

let listening = false
let last = ""

async function listen() {
  if (listening) return
  listening = true
  while (state.locked === null) {
    try {
      await follow("/global/event?deltas=1", last, opened, (number, { directory, payload }) => {
        last = number || last
        hear(directory, payload)
      })
    } catch (error) {
      if (!(error instanceof Failed)) throw error
      lock(error)
    }
    changed(() => (state.connected = false))
    await new Promise((resolve) => setTimeout(resolve, PAUSE))
  }
  listening = false
}

// Missed events are sent again from the last one on; a page that knows of none yet loads everything anew.
function opened() {
  if (!state.connected && !last) load()
  changed(() => (state.connected = true))
}

// Notifications, where the person wants them and does not look.

export const notifies = () => localStorage.getItem("notify") === "1" && window.Notification?.permission === "granted"

export const toggleNotifications = guarded(async () => {
  if (notifies()) localStorage.removeItem("notify")
  else if (!window.Notification) say("This browser has no notifications.")
  else if ((await Notification.requestPermission()) === "granted") localStorage.setItem("notify", "1")
  else say("The browser does not allow notifications for this page.")
  changed()
})

function notify(title, body) {
  if (!document.hidden || !notifies()) return
  const shown = new Notification(`toolwright: ${title}`, { body: visible(body), tag: "toolwright" })
  shown.onclick = () => window.focus()
}

// The use of a session.

const sumOf = (tokens) => tokens.input + tokens.output + tokens.reasoning + tokens.cache.read + tokens.cache.write

export function useOf() {
  const replies = state.order.map((id) => state.messages.get(id).info).filter((one) => one.tokens)
  const last = replies.findLast((one) => sumOf(one.tokens) > 0)
  const model = last && state.providers.find((one) => one.id === last.providerID)?.models[last.modelID]
  const context = last ? sumOf(last.tokens) : 0
  return {
    cost: replies.reduce((sum, one) => sum + (one.cost ?? 0), 0),
    tokens: replies.reduce((sum, one) => sum + sumOf(one.tokens), 0),
    context,
    limit: model?.limit?.context ?? 0,
    last,
  }
}

export const remove = guarded(async (id) => ask("DELETE", `/session/${id}`))
export const stop = guarded(async () => state.current && post(`/session/${state.current}/abort`))
