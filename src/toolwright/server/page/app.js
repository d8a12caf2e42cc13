// The page: sessions at the side, one conversation, its work, a prompt.
import { Conversation } from "./conversation.js"
import { Asked, Waiting } from "./dialogs.js"
import { Panel, exportJson, exportMarkdown, open } from "./panels.js"
import { html, render, useEffect, useReducer, useRef } from "./preact.js"
import { Prompt } from "./prompt.js"
import { Sidebar, listed } from "./sidebar.js"
import { changed, guarded, say, select, start, state, stop, watch } from "./store.js"
import { post } from "./api.js"
import { icon } from "./ui.js"
import { Glance, Work } from "./work.js"

function App() {
  const [, draw] = useReducer((number) => number + 1, 0)
  useEffect(() => watch(draw), [])
  if (state.locked !== null) return html`<${Login} />`
  const shown = (name) => changed(() => (state.drawer = state.drawer === name ? "" : name))
  return html`<div id="page" class=${state.drawer ? `drawer-${state.drawer}` : ""}>
    <${Sidebar} />
    <main>
      <header id="bar">
        <button type="button" class="ghost narrow" aria-label="Show sessions" onclick=${() => shown("side")}>${icon("menu")}</button>
        <${Title} />
        <${Glance} />
        ${state.current ? html`<${Menu} />` : null}
        ${state.current ? html`<button type="button" class="ghost medium" aria-label="Show work" onclick=${() => shown("work")}>${icon("panel")}</button>` : null}
      </header>
      <${Conversation} />
      <div id="below">
        ${state.connected ? null : html`<p id="lost" role="status"><span class="state error" aria-hidden="true"></span>Connection lost; trying again</p>`}
        ${state.note ? html`<p id="note" role="status">${state.note}</p>` : null}
        <${Toast} />
        <${Waiting} />
        ${state.ready ? html`<${Prompt} />` : null}
      </div>
    </main>
    <${Work} />
    ${state.drawer ? html`<div id="shade" onclick=${() => changed(() => (state.drawer = ""))}></div>` : null}
    <${Panel} />
    <${Asked} />
  </div>`
}

function Login() {
  const field = useRef()
  useEffect(() => field.current.focus(), [])
  const submit = (event) => {
    event.preventDefault()
    const given = field.current.value.trim()
    // The whole address is as good.
    if (given) start(secretOf(given) || given)
  }
  return html`<div class="login"><form onsubmit=${submit}>
    <h1>toolwright</h1>
    <label>Secret <input ref=${field} type="password" autocomplete="current-password" /></label>
    ${state.locked ? html`<p class="error" role="alert">${state.locked}</p>` : null}
    <p class="faint">It stands in the address that <code>tw serve</code> has printed, or is the password that you gave it.</p>
    <button class="main">Open</button>
  </form></div>`
}

// The secret: it follows `k-` in an address of the server.
function secretOf(address) {
  const found = address.match(/\/k-([^/#?]+)/)?.[1] ?? ""
  try {
    return decodeURIComponent(found)
  } catch {
    return found
  }
}

function Title() {
  const info = state.sessions.get(state.current)
  if (!info) return html`<span id="title"></span>`
  const parent = state.sessions.get(info.parentID)
  return html`<h2 id="title">${parent ? html`<button type="button" class="link" onclick=${() => select(parent.id)}>${icon("back")}${parent.title}</button><span class="faint"> / </span>` : null}${info.title}</h2>`
}

function Menu() {
  const box = useRef()
  const id = state.current
  const fork = guarded(async () => {
    const made = await post(`/session/${id}/fork`, {})
    state.sessions.set(made.id, made)
    await select(made.id)
    say("This is a copy; the other session is as it was.")
  })
  const entries = [
    ["Undo the last turn", undoLast],
    ["Rename", () => open("rename", { id })],
    ["Fork", fork],
    ["Export as JSON", () => exportJson(id)],
    ["Export as Markdown", () => exportMarkdown(id)],
    ["Approvals", () => open("approvals")],
    ["Usage", () => open("usage")],
    ["Keys", () => open("keys")],
    ["Delete", () => open("remove", { id })],
  ]
  const act = (work) => () => {
    box.current.open = false
    work()
  }
  const leave = (event) => !box.current.contains(event.relatedTarget) && (box.current.open = false)
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === "Escape") {
      box.current.open = false
      box.current.querySelector("summary").focus()
    } else if (step && !event.altKey) {
      event.preventDefault()
      box.current.open = true
      const items = [...box.current.querySelectorAll("[role=menuitem]")]
      const at = items.indexOf(document.activeElement)
      items[at < 0 && step < 0 ? items.length - 1 : (at + step + items.length) % items.length].focus()
    }
  }
  return html`<details id="menu" ref=${box} onfocusout=${leave} onkeydown=${keys}>
    <summary class="ghost" role="button" aria-label="Session menu">${icon("more")}</summary>
    <ul role="menu">${entries.map(([label, work]) => html`<li key=${label} role="none"><button type="button" role="menuitem" onclick=${act(work)}>${label}</button></li>`)}</ul>
  </details>`
}

function undoLast() {
  const last = state.order.findLast((id) => state.messages.get(id).info.role === "user")
  if (last) open("undo", { selection: { turn: last }, title: "Undo the last turn" })
}

function Toast() {
  if (!state.toast) return null
  const { text, action } = state.toast
  const act = () => {
    changed(() => (state.toast = null))
    action.act()
  }
  return html`<p id="toast" role="status">${text}${action ? html` <button type="button" class="link" onclick=${act}>${action.label}</button>` : null}<button type="button" class="ghost" aria-label="Dismiss" onclick=${() => say("")}>${icon("close")}</button></p>`
}

function keys(event) {
  const writing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
  const modal = document.querySelector("dialog[open]")
  if (modal || state.locked !== null) return
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    changed(() => (state.drawer = matchMedia("(max-width: 760px)").matches ? "side" : state.drawer))
    document.getElementById("search").focus()
  } else if (event.altKey && event.code === "KeyN") select("")
  else if (event.altKey && event.code === "KeyZ") undoLast()
  else if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
    const rows = listed()
    const at = rows.findIndex((one) => one.id === state.current) + (event.key === "ArrowUp" ? -1 : 1)
    if (rows[at]) select(rows[at].id)
  } else if (event.key === "?" && !writing) open("keys")
  else if (event.key === "Escape" && !writing && state.status[state.current]) stop()
  else return
  event.preventDefault()
}

const root = document.createElement("div")
root.id = "root"
document.body.append(root)
document.addEventListener("keydown", keys)
window.addEventListener("hashchange", () => {
  const id = location.hash.slice(1).split("@")[0]
  if (id !== state.current && (!id || state.sessions.has(id))) select(id)
})
// The secret stays neither in the address nor in what the browser remembers of it.
const secret = secretOf(location.pathname)
if (secret) history.replaceState(null, "", `/${location.hash}`)
render(html`<${App} />`, root)
start(secret)
