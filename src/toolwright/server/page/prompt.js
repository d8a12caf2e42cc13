// The prompt: words, files, completions, who answers and with which model. What is half typed is kept.
import { get, post } from "./api.js"
import { html, useEffect, useLayoutEffect, useRef, useState } from "./preact.js"
import { changed, guarded, load, say, select, state, stop } from "./store.js"
import { icon, nameOf } from "./ui.js"

const KEPT = 100
const draftKey = () => `draft ${state.current || state.directory}`
const past = () => JSON.parse(localStorage.getItem("history") ?? "[]")
const NOTHING = { list: [], at: 0, from: 0, before: "" }
// Commands that open a dialog where they are typed without an argument.
const DIALOGS = {
  undo: () => {
    const last = state.order.findLast((id) => state.messages.get(id).info.role === "user")
    if (last) changed(() => (state.panel = { name: "undo", selection: { turn: last }, title: "Undo the last turn" }))
    return Boolean(last)
  },
  rename: () => state.current && changed(() => (state.panel = { name: "rename", id: state.current })) === undefined,
}

// Acts of our commands that the page does itself, in a dialog of the same name.
const ACTS = ["connect", "account", "login"]

let delivered = Promise.resolve()

export function Prompt() {
  const box = useRef()
  const [files, setFiles] = useState([])
  const [, redraw] = useState(0)
  // Not a state of the view: two keys may come before it is drawn again.
  const offered = useRef(NOTHING)
  const browsing = useRef(null)
  const number = useRef(0)
  const busy = Boolean(state.status[state.current])

  const offer = (found) => {
    number.current++ // what is still being looked for comes too late
    offered.current = found
    redraw(number.current)
  }
  const put = (text) => {
    box.current.value = text
    keep()
  }
  const keep = () => {
    const text = box.current.value
    if (text) localStorage.setItem(draftKey(), text)
    else localStorage.removeItem(draftKey())
    fit(box.current)
  }
  useLayoutEffect(() => {
    box.current.value = localStorage.getItem(draftKey()) ?? ""
    fit(box.current)
    browsing.current = null
    offer(NOTHING)
    if (!state.drawer && matchMedia("(hover: hover)").matches) box.current.focus()
  }, [state.current, state.directory])

  const attach = async (list) => {
    const added = await Promise.all([...list].map(attached))
    setFiles((before) => [...before, ...added])
  }
  useEffect(() => {
    const over = (event) => event.preventDefault()
    const drop = (event) => {
      event.preventDefault()
      attach(event.dataTransfer.files)
    }
    document.addEventListener("dragover", over)
    document.addEventListener("drop", drop)
    return () => {
      document.removeEventListener("dragover", over)
      document.removeEventListener("drop", drop)
    }
  }, [])

  const complete = guarded(async () => {
    const before = box.current.value.slice(0, box.current.selectionStart)
    const mine = ++number.current
    const found = await completions(before)
    if (mine === number.current) offer({ ...found, before })
  })
  const accept = (one) => {
    box.current.setRangeText(one.text, offered.current.from, box.current.selectionStart, "end")
    offer(NOTHING)
    keep()
    box.current.focus()
  }
  const whole = (one) => box.current.value.slice(offered.current.from) === one.text.trim()
  const send = guarded(async () => {
    const text = box.current.value.trim()
    if (!text && !files.length) return
    const sent = files
    put("")
    setFiles([])
    offer(NOTHING)
    browsing.current = null
    localStorage.setItem("history", JSON.stringify([...past().filter((one) => one !== text), text].slice(-KEPT)))
    try {
      // One after the other: the first begins the session of the others.
      await (delivered = delivered.catch(() => {}).then(() => deliver(text, sent)))
    } catch (error) {
      if (!box.current.value) put(text)
      setFiles(sent)
      throw error
    }
  })
  const browse = (step) => {
    const list = past()
    if (!list.length) return
    const at = (browsing.current ?? list.length) + step
    if (at < 0) return
    browsing.current = Math.min(at, list.length)
    put(list[browsing.current] ?? "")
  }
  const keys = (event) => {
    const typed = box.current.value
    // Completions of an older text are no completions.
    const { list, at } =
      offered.current.before === typed.slice(0, box.current.selectionStart) ? offered.current : NOTHING
    const free = !typed || browsing.current !== null
    const move = (step) => offer({ ...offered.current, at: (at + step + list.length) % list.length })
    if (event.isComposing) return
    if (list.length && event.key === "ArrowDown") move(1)
    else if (list.length && event.key === "ArrowUp") move(-1)
    else if (list.length && event.key === "Tab") accept(list[at])
    else if (list.length && event.key === "Enter" && !event.shiftKey && !whole(list[at])) accept(list[at])
    else if (event.key === "Enter" && !event.shiftKey) send()
    else if (event.key === "Escape" && list.length) offer(NOTHING)
    else if (event.key === "Escape" && busy) stop()
    else if (event.key === "ArrowUp" && free) browse(-1)
    else if (event.key === "ArrowDown" && browsing.current !== null) browse(1)
    else return
    event.preventDefault()
  }
  const typing = () => {
    browsing.current = null
    keep()
    complete()
  }
  const { list, at } = offered.current
  return html`<form id="form" onsubmit=${(event) => {
    event.preventDefault()
    send()
  }}>
    ${
      list.length
        ? html`<ul id="complete" role="listbox" aria-label="Completions">${list.map(
            (one, place) =>
              html`<li key=${one.text} id=${`option-${place}`} role="option" aria-selected=${String(place === at)} onmousedown=${(
                event,
              ) => {
                event.preventDefault()
                accept(one)
              }}><span>${one.shown}</span><small>${one.about}</small></li>`,
          )}</ul>`
        : null
    }
    ${files.length ? html`<p class="files">${files.map((one, place) => html`<span key=${place} class="chip">${icon("file")}${one.filename}<button type="button" class="ghost" aria-label=${`Remove ${one.filename}`} onclick=${() => setFiles(files.filter((other) => other !== one))}>${icon("close")}</button></span>`)}</p>` : null}
    <textarea id="prompt" ref=${box} rows="1" aria-label="Prompt" aria-autocomplete="list" aria-controls=${list.length ? "complete" : undefined} aria-activedescendant=${list.length ? `option-${at}` : undefined}
      placeholder=${busy ? "Add to the running turn" : "What should be done?"} onkeydown=${keys} oninput=${typing} onpaste=${(event) => event.clipboardData.files.length && attach(event.clipboardData.files)}></textarea>
    <footer><${Choices} /><span class="grow"></span>
      ${busy ? html`<button type="button" class="round stop" aria-label="Stop" title="Stop (Esc)" onclick=${stop}>${icon("stop")}</button>` : null}
      <button type="submit" class="round main" aria-label="Send" title="Send (Enter)">${icon("send")}</button>
    </footer>
  </form>`
}

function Choices() {
  const { agent, variant } = state.chosen
  const model = state.chosen.model || state.usual
  const agents = state.agents.filter((one) => one.mode !== "subagent" && !one.hidden)
  const [provider, ...rest] = model.split("/")
  const variants = Object.keys(
    state.providers.find((one) => one.id === provider)?.models[rest.join("/")]?.variants ?? {},
  )
  const choose = (name) => (event) =>
    changed(() => {
      state.chosen[name] = event.currentTarget.value
      if (name === "model") {
        state.chosen.variant = ""
        localStorage.setItem("model", event.currentTarget.value)
      }
    })
  return html`
    <select id="agent" aria-label="Agent" title="Agent" value=${agent} onchange=${choose("agent")}>${agents.map((one) => html`<option key=${one.name} value=${one.name}>${one.name}</option>`)}</select>
    <select id="model" aria-label="Model" title="Model" value=${model} onchange=${choose("model")}>
      ${model ? null : html`<option value="">default model</option>`}
      ${state.providers.map((one) => html`<optgroup key=${one.id} label=${one.name}>${Object.values(one.models).map((each) => html`<option key=${each.id} value=${`${one.id}/${each.id}`}>${nameOf(each.name || each.id)}</option>`)}</optgroup>`)}
    </select>
    ${variants.length ? html`<select id="variant" aria-label="Variant" title="Reasoning effort" value=${variant} onchange=${choose("variant")}><option value="">Default effort</option>${variants.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select>` : null}`
}

function fit(box) {
  box.style.height = "auto"
  box.style.height = `${Math.min(box.scrollHeight, 260)}px`
}

const attached = (file) =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () =>
      resolve({ type: "file", mime: file.type || "text/plain", filename: file.name, url: reader.result })
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })

async function completions(before) {
  const slash = before.match(/^\/(\S*)$/)
  const at = before.match(/(?:^|\s)@(\S*)$/)
  if (slash) {
    const list = state.commands.filter((one) => one.name.startsWith(slash[1])).slice(0, 10)
    return {
      list: list.map((one) => ({ text: `/${one.name} `, shown: `/${one.name}`, about: one.description ?? "" })),
      at: 0,
      from: 0,
    }
  }
  if (!at) return NOTHING
  const agents = state.agents.filter((one) => one.mode !== "primary" && !one.hidden && one.name.startsWith(at[1]))
  const paths = await get(`/find/file?limit=8&query=${encodeURIComponent(at[1])}`)
  const list = [
    ...(at[1] ? agents : agents.slice(0, 2)).map((one) => ({
      text: `@${one.name} `,
      shown: `@${one.name}`,
      about: "agent",
    })),
    ...paths.map((path) => ({ text: `@${path} `, shown: path, about: "" })),
  ]
  return { list, at: 0, from: before.length - at[1].length - 1 }
}

async function deliver(text, files) {
  const line = /^[/!]/.test(text) ? await read(text) : { kind: "prompt" }
  if (line.kind === "done") return
  if (line.kind === "own") return came(line)
  if (!state.current) {
    const made = await post("/session", {})
    state.sessions.set(made.id, made)
    const written = localStorage.getItem(draftKey())
    localStorage.removeItem(draftKey())
    if (written) localStorage.setItem(`draft ${made.id}`, written)
    const chosen = { ...state.chosen }
    await select(made.id)
    changed(() => (state.chosen = chosen))
  }
  const id = state.current
  const { agent, variant, goal } = state.chosen
  const [providerID, ...rest] = state.chosen.model.split("/")
  const model = providerID ? { providerID, modelID: rest.join("/") } : undefined
  if (line.kind === "shell") {
    post(`/session/${id}/shell`, { agent, command: line.command, ...(model ? { model } : {}) }).catch((error) =>
      say(error.message),
    )
    return
  }
  const revealed = { agent, ...(model ? { model } : {}), ...(variant ? { variant } : {}) }
  await post(`/session/${id}/prompt_async`, {
    parts: [...(text ? [{ type: "text", text }] : []), ...files],
    mentions: true,
    ...(goal ? { until: goal } : {}),
    ...revealed,
  })
}

// The server says what a line means, and carries out our commands.
async function read(text) {
  const name = text.slice(1)
  const own = state.commands.find((one) => one.own && one.name === name)
  if (own && DIALOGS[name]?.()) return { kind: "done" }
  return post("/tw/line", { text, session: state.current, ...state.chosen })
}

// Takes the outcome of a command of ours, and what is chosen from then on.
export async function came({ name, outcome, session, chosen }) {
  if (session !== state.current) await select(session)
  else changed(() => (state.chosen = chosen))
  if (outcome.reread) await load()
  if (ACTS.includes(outcome.kind)) changed(() => (state.panel = { name: outcome.kind, provider: outcome.text }))
  else if (outcome.brief) say(outcome.lines.map(([text]) => text).join("\n"))
  else if (outcome.kind !== "lines" || outcome.lines.length)
    changed(() => (state.panel = { name: "outcome", outcome, command: name }))
}
