// The conversation: every message a row, of which only those near the view have their content in the document.
import { post } from "./api.js"
import { Part } from "./parts.js"
import { html, useEffect, useLayoutEffect, useRef } from "./preact.js"
import { command } from "./panels.js"
import { changed, earlier, fromHome, guarded, say, select, state } from "./store.js"
import { Memo, count, icon, lasted, money, nameOf, plural } from "./ui.js"

const NEAR = 1500
const GUESS = 90

// One observer tells all rows whether they are near.
const rows = new WeakMap()
let observer
const observe = (element, hear) => {
  rows.set(element, hear)
  observer ??= new IntersectionObserver((entries) => entries.forEach((one) => rows.get(one.target)?.(one)), {
    root: document.getElementById("conversation"),
    rootMargin: `${NEAR}px 0px`,
  })
  observer.observe(element)
  return () => observer?.unobserve(element)
}

export function Conversation() {
  const box = useRef()
  const follows = useRef(true)
  const was = useRef({ session: "", first: "" })
  const mark = state.sessions.get(state.current)?.revert?.messageID
  useEffect(
    () => () => {
      observer?.disconnect()
      observer = null
    },
    [],
  )
  useLayoutEffect(() => {
    const session = was.current.session !== state.current
    was.current = { session: state.current }
    if (session) follows.current = true
    if (follows.current) box.current.scrollTop = box.current.scrollHeight
  })
  useEffect(() => {
    // Rows that are drawn late, pictures and opened details must not leave the end out of sight.
    const sizes = new ResizeObserver(() => follows.current && (box.current.scrollTop = box.current.scrollHeight))
    sizes.observe(box.current.firstElementChild)
    return () => sizes.disconnect()
  }, [])
  const scrolled = () => {
    const { scrollHeight, scrollTop, clientHeight } = box.current
    follows.current = scrollHeight - scrollTop - clientHeight < 80
    if (scrollTop < 400 && !state.complete) keepPlace(box.current, earlier)
  }
  const wheel = (event) => event.deltaY < 0 && (follows.current = false)
  const undone = mark ? state.order.filter((id) => id >= mark) : []
  return html`<section id="conversation" ref=${box} role="region" aria-label="Conversation" aria-live="polite" tabindex="0" onscroll=${scrolled} onwheel=${wheel}>
    <div class="column">
      ${state.order.length || state.current || !state.ready ? null : html`<${Welcome} />`}
      ${state.complete ? null : html`<p class="divider"><button type="button" class="link" onclick=${() => keepPlace(box.current, earlier)}>Earlier messages</button></p>`}
      ${state.order.map((id, at) => {
        const message = state.messages.get(id)
        const next = state.messages.get(state.order[at + 1])
        const last = message.info.role === "assistant" && next?.info.role !== "assistant"
        return html`<${Row} key=${id} message=${message} end=${last} busy=${Boolean(state.status[state.current])} recent=${at >= state.order.length - 30} undone=${Boolean(mark && id >= mark)} />`
      })}
      ${undone.length ? html`<${Undone} count=${undone.length} />` : null}
      ${state.status[state.current] ? html`<p class="working" aria-hidden="true"><i></i><i></i><i></i></p>` : null}
    </div>
  </section>`
}

async function keepPlace(box, work) {
  const before = box.scrollHeight - box.scrollTop
  await work()
  requestAnimationFrame(() => requestAnimationFrame(() => (box.scrollTop = box.scrollHeight - before)))
}

class Row extends Memo {
  constructor(properties) {
    super(properties)
    this.height = GUESS
    this.state = { near: properties.recent }
  }

  componentDidMount() {
    const { base } = /** @type {any} */ (this)
    this.leave = observe(base, ({ isIntersecting, boundingClientRect }) => {
      if (isIntersecting === this.state.near) return
      if (!isIntersecting) this.height = boundingClientRect.height
      this.setState({ near: isIntersecting })
    })
  }

  componentWillUnmount() {
    this.leave()
  }

  shouldComponentUpdate(next, state) {
    return state.near !== this.state.near || (state.near && super.shouldComponentUpdate(next))
  }

  render({ message, end, undone, busy }, { near }) {
    const { info, parts } = message
    const kind = `${info.role}${undone ? " undone" : ""}`
    if (!near) return html`<article class=${kind} style=${{ height: `${this.height}px` }} data-id=${info.id}></article>`
    const user = info.role === "user"
    return html`<article class=${kind} style=${{ height: "" }} data-id=${info.id} aria-label=${user ? "You" : (info.agent ?? "Answer")}>
      ${parts.map((part) => html`<${Part} key=${part.id} part=${part} />`)}
      ${info.error ? html`<${Trouble} info=${info} busy=${busy} />` : null}
      ${user ? html`<${UserActions} info=${info} parts=${parts} />` : null}
      ${end && info.time?.completed && !undone ? html`<${TurnEnd} info=${info} />` : null}
    </article>`
  }
}

// Actions on a message.

const undoTurn = (id) =>
  changed(() => (state.panel = { name: "undo", selection: { turn: id }, title: "Undo from here" }))

const fork = guarded(async (messageID) => {
  const made = await post(`/session/${state.current}/fork`, messageID ? { messageID } : {})
  state.sessions.set(made.id, made)
  await select(made.id)
  say("This is a copy; the other session is as it was.")
})

function UserActions({ info, parts }) {
  const text = parts
    .filter((one) => one.type === "text" && !one.synthetic)
    .map((one) => one.text)
    .join("\n\n")
  return html`<p class="tools">
    <button type="button" class="ghost" title="Undo from here" aria-label="Undo from here" onclick=${() => undoTurn(info.id)}>${icon("undo")}</button>
    <button type="button" class="ghost" title="Fork before this message" aria-label="Fork before this message" onclick=${() => fork(info.id)}>${icon("fork")}</button>
    <button type="button" class="ghost" title="Copy" aria-label="Copy message" onclick=${() => navigator.clipboard?.writeText(text)}>${icon("copy")}</button>
  </p>`
}

function TurnEnd({ info }) {
  const turn = state.order.map((id) => state.messages.get(id).info).filter((one) => one.parentID === info.parentID)
  const cost = turn.reduce((sum, one) => sum + (one.cost ?? 0), 0)
  const tokens = turn.reduce(
    (sum, one) => sum + (one.tokens ? one.tokens.input + one.tokens.output + one.tokens.reasoning : 0),
    0,
  )
  const facts = [
    info.agent,
    info.modelID?.split("/").at(-1),
    lasted(turn[0].time.created, info.time.completed),
    tokens ? `${count(tokens)} tokens` : "",
    cost ? money(cost) : "",
  ]
  return html`<p class="end">${facts.filter(Boolean).join(" · ")}</p>`
}

const again = guarded(async (info) => {
  const asked = state.messages.get(info.parentID)
  const parts = (asked?.parts ?? [])
    .filter((one) => one.type === "text" && !one.synthetic)
    .map(({ text }) => ({ type: "text", text }))
  if (parts.length) await post(`/session/${state.current}/prompt_async`, { parts, agent: info.agent })
})

function Trouble({ info, busy }) {
  if (info.error.name === "MessageAbortedError") return html`<p class="stopped">Stopped.</p>`
  return html`<div class="trouble" role="alert">
    <p>${info.error.data?.message ?? info.error.name}</p>
    <button type="button" disabled=${busy} onclick=${() => again(info)}>Try again</button>
  </div>`
}

function Undone({ count: number }) {
  const redo = guarded(async () => post(`/session/${state.current}/unrevert`))
  return html`<p class="divider"><span>${plural(number, "message")} undone; the next prompt removes them</span> <button type="button" class="link" onclick=${redo}>Redo</button></p>`
}

function Welcome() {
  const problem = state.doctor?.modelProblem
  return html`<div class="welcome">
    <h2>${nameOf(state.directory)}</h2>
    <p class="faint"><code>${fromHome(state.directory)}</code></p>
    ${problem ? html`<div class="trouble"><p>${problem}</p><p><button type="button" class="main" onclick=${() => command("/connect")}>Connect a model</button></p></div>` : null}
    ${state.doctor && !state.doctor.trusted ? html`<p class="faint">This project is not trusted: its own settings and extensions are left out. <code>tw trust</code> changes that.</p>` : null}
    ${(state.doctor?.warnings ?? []).map((one) => html`<p class="faint">${one}</p>`)}
    <dl class="keys">
      <dt><kbd>/</kbd></dt><dd>commands</dd><dt><kbd>@</kbd></dt><dd>files and agents</dd><dt><kbd>!</kbd></dt><dd>a command of your own</dd>
      <dt class="keyboard"><kbd>Esc</kbd></dt><dd class="keyboard">stop</dd><dt class="keyboard"><kbd>Ctrl K</kbd></dt><dd class="keyboard">search sessions</dd><dt class="keyboard"><kbd>?</kbd></dt><dd class="keyboard">all keys</dd>
    </dl>
  </div>`
}
