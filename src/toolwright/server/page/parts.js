// The parts of a message: words, thoughts, files, and tool calls with what they did.
import { Diff, countsOf } from "./diff.js"
import { Code, Markdown, languageOf } from "./markdown.js"
import { get } from "./api.js"
import { html, useEffect, useState } from "./preact.js"
import { changed, select, state } from "./store.js"
import { Memo, icon, lasted, nameOf, plural, visible } from "./ui.js"

const OUTPUT = 30000
const NOT_SHOWN = { verb: "", subject: "" }

export function Part({ part }) {
  switch (part.type) {
    case "text":
      if (part.metadata?.notAttached) return html`<p class="faint">${part.metadata.notAttached}</p>`
      return part.synthetic || !part.text ? null : html`<${Markdown} text=${part.text} />`
    case "reasoning":
      return part.text
        ? html`<details class="thought"><summary>Thought${part.time?.end - part.time?.start >= 1000 ? html`<span class="meta">${lasted(part.time.start, part.time.end)}</span>` : null}</summary><${Markdown} text=${part.text} /></details>`
        : null
    case "file":
      return html`<${Attached} part=${part} />`
    case "agent":
      return html`<span class="chip">@${part.name}</span>`
    case "compaction":
      return part.failed
        ? html`<p class="error line">What was said before could not be summarised: ${part.failed} The model is sent the prompts and the last answer.</p>`
        : html`<p class="divider"><span>What was said before is summarised</span></p>`
    case "tool":
      return html`<${Call} part=${part} />`
    default:
      return null
  }
}

function Attached({ part }) {
  const image = part.mime?.startsWith("image/") && part.url?.startsWith("data:image/")
  if (image) return html`<img class="attached" src=${part.url} alt=${part.filename ?? "image"} />`
  return html`<span class="chip">${icon("file")}${part.filename ?? nameOf(part.url ?? "") ?? part.mime}</span>`
}

// Tool calls.

export const relative = (path) =>
  typeof path === "string" && path.startsWith(`${state.directory}/`) ? path.slice(state.directory.length + 1) : path
function differences({ state: call }) {
  const meta = call.metadata ?? {}
  const files = (Array.isArray(meta.files) ? meta.files : [])
    .filter((one) => one.diff)
    .map((one) => ({ file: one.relativePath ?? relative(one.filePath), text: one.diff }))
  if (files.length) return files
  return typeof meta.diff === "string" && meta.diff ? [{ file: relative(call.input?.filePath), text: meta.diff }] : []
}

function metaOf(part, diffs) {
  const meta = part.state.metadata ?? {}
  if (diffs.length) {
    const counts = diffs.map((one) => countsOf(one.text))
    const sum = (name) => counts.reduce((total, one) => total + one[name], 0)
    return html`<span class="plus">+${sum("additions")}</span> <span class="minus">−${sum("deletions")}</span>`
  }
  const note = part.shown?.note
  return note ? html`<span class=${meta.exit ? "minus" : ""}>${note}</span>` : null
}

export class Call extends Memo {
  render({ part }) {
    const { status, time } = part.state
    const diffs = differences(part)
    const { verb, subject, kind } = part.shown ?? NOT_SHOWN
    const took = time?.end && time.end - time.start >= 1000 ? lasted(time.start, time.end) : null
    // Keep open or closed what the person has opened or closed.
    if (!this.touched)
      this.wasOpen =
        diffs.length > 0 || (kind === "edit" && status === "completed") || (kind === "execute" && status === "running")
    const toggle = (event) => {
      if (event.currentTarget.open === this.wasOpen) return
      this.wasOpen = event.currentTarget.open
      this.touched = true
      this.forceUpdate()
    }
    return html`<details class=${`call ${status}`} open=${this.wasOpen} ontoggle=${toggle}>
      <summary><span class=${`state ${status} ${part.state.metadata?.exit ? "odd" : ""}`} role="img" aria-label=${status}></span><b>${verb}</b> <code>${visible(subject)}</code><span class="meta">${metaOf(part, diffs)} ${took}</span></summary>
      ${this.wasOpen ? html`<${Body} part=${part} diffs=${diffs} />` : null}
      ${!this.wasOpen && part.state.error ? html`<p class="error line">${firstLine(part.state.error)}</p>` : null}
    </details>`
  }
}

const firstLine = (text) => text.split("\n")[0].slice(0, 300)

function Body({ part, diffs }) {
  const { input = {}, metadata = {}, output, error, status } = part.state
  const { kind, quiet, child } = part.shown ?? NOT_SHOWN
  const said = child ? output?.replace(/\s*<task_metadata>[\s\S]*$/, "") : output
  const shown = error ?? (diffs.length ? "" : (said ?? metadata.output ?? ""))
  return html`<div class="body">
    ${kind === "execute" && input.command ? html`<${Code} text=${input.command ?? ""} language="bash" />` : null}
    ${diffs.map((one) => html`<div key=${one.file}>${diffs.length > 1 ? html`<p class="filename"><code>${one.file}</code></p>` : null}<${Diff} text=${one.text} /></div>`)}
    ${kind === "edit" && !diffs.length && status === "completed" ? html`<${Written} part=${part} />` : null}
    ${Array.isArray(input.todos) ? html`<${Todos} todos=${input.todos} />` : null}
    ${child ? html`<p class="asked">${input.prompt}</p>` : null}
    ${Array.isArray(metadata.answers) ? html`<${Answers} questions=${input.questions} answers=${metadata.answers} />` : null}
    ${diagnostics(metadata).map((one) => html`<p class="error line">${one}</p>`)}
    ${shown && !(quiet && !error) ? html`<${Output} text=${shown} bad=${Boolean(error)} language=${kind === "read" ? languageOf(input.filePath) : ""} />` : null}
    <p class="actions">
      ${child ? html`<button type="button" class="link" onclick=${() => select(child)}>Open the agent’s session</button>` : null}
      ${status === "completed" && kind === "edit" ? html`<button type="button" class="link" onclick=${() => changed(() => (state.panel = { name: "undo", selection: { call: part.callID }, title: "Undo this call" }))}>Undo this call…</button>` : null}
      ${status !== "pending" && part.tool !== "invalid" ? html`<button type="button" class="link" onclick=${() => changed(() => (state.panel = { name: "explain", tool: part.tool, shown: part.shown, input, agent: state.messages.get(part.messageID)?.info.agent }))}>Why was this allowed?</button>` : null}
    </p>
  </div>`
}

// The change of a write to its file: the part itself does not say.
function Written({ part }) {
  const [made, setMade] = useState(null)
  useEffect(() => {
    get(`/tw/session/${part.sessionID}/changes?call=${encodeURIComponent(part.callID)}`).then(setMade, () =>
      setMade([]),
    )
  }, [part.callID])
  return (made ?? []).filter((one) => one.diff).map((one) => html`<${Diff} key=${one.file} text=${one.diff} />`)
}

function diagnostics(metadata) {
  const found =
    metadata.diagnostics && typeof metadata.diagnostics === "object" ? Object.values(metadata.diagnostics).flat() : []
  return found
    .filter((one) => one?.severity === 1)
    .slice(0, 5)
    .map((one) => `line ${(one.range?.start?.line ?? 0) + 1}: ${one.message}`)
}

function Output({ text, bad }) {
  const [all, setAll] = useState(false)
  const shown = all ? text : text.slice(-OUTPUT)
  return html`<div>
    ${shown.length < text.length ? html`<button type="button" class="link" onclick=${() => setAll(true)}>Show all ${plural(text.length, "character")}</button>` : null}
    <pre class=${bad ? "output bad" : "output"} tabindex="0">${shown}</pre>
  </div>`
}

const MARKS = { completed: "done", in_progress: "doing", cancelled: "dropped" }

export function Todos({ todos }) {
  return html`<ul class="todos">${todos.map((one, at) => html`<li key=${at} class=${MARKS[one.status] ?? ""}><span class="box" role="img" aria-label=${(one.status ?? "pending").replace("_", " ")}>${one.status === "completed" ? icon("check") : null}</span><span>${one.content}</span></li>`)}</ul>`
}

function Answers({ questions = [], answers = [] }) {
  return html`<dl class="answers">${questions.map((one, at) => [html`<dt>${one.question}</dt>`, html`<dd>${answers[at]?.join(", ") || "not answered"}</dd>`])}</dl>`
}
