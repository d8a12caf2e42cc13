// The parts of a message: words, thoughts, files, and tool calls with what they did.
import { Diff, countsOf } from "./diff.js"
import { Code, Markdown, languageOf } from "./markdown.js"
import { get } from "./api.js"
import { html, useEffect, useState } from "./preact.js"
import { changed, select, state } from "./store.js"
import { Memo, icon, lasted, nameOf, plural, visible } from "./ui.js"

const OUTPUT = 30000
const QUIET = ["todowrite", "question", "write"]

export function Part({ part }) {
  switch (part.type) {
    case "text":
      if (part.metadata?.notAttached) return html`<p class="faint">${visible(part.metadata.notAttached)}</p>`
      return part.synthetic || !part.text ? null : html`<${Markdown} text=${part.text} />`
    case "reasoning":
      return part.text ? html`<details class="thought"><summary>Thought${part.time?.end - part.time?.start >= 1000 ? html`<span class="meta">${lasted(part.time.start, part.time.end)}</span>` : null}</summary><${Markdown} text=${part.text} /></details>` : null
    case "file":
      return html`<${Attached} part=${part} />`
    case "agent":
      return html`<span class="chip">@${part.name}</span>`
    case "compaction":
      return html`<p class="divider"><span>What was said before is summarised</span></p>`
    case "tool":
      return html`<${Call} part=${part} />`
    default:
      return null
  }
}

function Attached({ part }) {
  const image = part.mime?.startsWith("image/") && part.url?.startsWith("data:image/")
  if (image) return html`<img class="attached" src=${part.url} alt=${part.filename ?? "image"} />`
  return html`<span class="chip">${icon("file")}${visible(part.filename ?? nameOf(part.url ?? "") ?? part.mime)}</span>`
}

// Tool calls.

export const relative = (path) => (typeof path === "string" && path.startsWith(`${state.directory}/`) ? path.slice(state.directory.length + 1) : path)
const VERBS = { read: "Read", edit: "Edit", multiedit: "Edit", write: "Write", apply_patch: "Patch", bash: "Run", glob: "Find files", grep: "Search", list: "List", webfetch: "Fetch", websearch: "Search the web", todowrite: "Plan", todoread: "Plan", task: "Agent", question: "Ask", skill: "Skill" }

export function wordsOf(tool, input = {}) {
  const files = [...String(input.patchText ?? "").matchAll(/^\*\*\* (?:Update|Add|Delete) File: (.+)$/gm)].map((one) => one[1])
  const what =
    tool === "bash" ? input.command
    : tool === "task" ? input.description
    : tool === "question" ? input.questions?.[0]?.question
    : tool === "todowrite" ? plural(input.todos?.length ?? 0, "step")
    : files.length ? files.join(", ")
    : relative(input.filePath ?? input.path) ?? input.pattern ?? input.url ?? input.query ?? input.name ?? ""
  const pattern = (tool === "grep" || tool === "glob") && input.pattern
  return { verb: VERBS[tool] ?? tool, what: visible(pattern || what || Object.values(input).find((one) => typeof one === "string") || "") }
}

function differences({ state: call }) {
  const meta = call.metadata ?? {}
  const files = (Array.isArray(meta.files) ? meta.files : []).filter((one) => one.diff).map((one) => ({ file: one.relativePath ?? relative(one.filePath), text: one.diff }))
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
  if (part.tool === "bash" && typeof meta.exit === "number" && meta.exit !== 0) return html`<span class="minus">exit ${meta.exit}</span>`
  if (part.tool === "todowrite") return `${(part.state.input?.todos ?? []).filter((one) => one.status === "completed").length} done`
  if (typeof meta.matches === "number") return plural(meta.matches, "match").replace("matchs", "matches")
  if (typeof meta.count === "number") return plural(meta.count, "file")
  return null
}

export class Call extends Memo {
  render({ part }) {
    const { status, time } = part.state
    const diffs = differences(part)
    const { verb, what } = wordsOf(part.tool, part.state.input)
    const took = time?.end && time.end - time.start >= 1000 ? lasted(time.start, time.end) : null
    // What a person has opened or closed stays so.
    if (!this.touched) this.wasOpen = diffs.length > 0 || (part.tool === "write" && status === "completed") || (part.tool === "bash" && status === "running")
    const toggle = (event) => {
      if (event.currentTarget.open === this.wasOpen) return
      this.wasOpen = event.currentTarget.open
      this.touched = true
      this.forceUpdate()
    }
    return html`<details class=${`call ${status}`} open=${this.wasOpen} ontoggle=${toggle}>
      <summary><span class=${`state ${status} ${part.state.metadata?.exit ? "odd" : ""}`} role="img" aria-label=${status}></span><b>${verb}</b> <code>${what}</code><span class="meta">${metaOf(part, diffs)} ${took}</span></summary>
      ${this.wasOpen ? html`<${Body} part=${part} diffs=${diffs} />` : null}
      ${!this.wasOpen && part.state.error ? html`<p class="error line">${firstLine(part.state.error)}</p>` : null}
    </details>`
  }
}

const firstLine = (text) => visible(text.split("\n")[0].slice(0, 300))

function Body({ part, diffs }) {
  const { input = {}, metadata = {}, output, error, status } = part.state
  const child = metadata.sessionId
  const said = part.tool === "task" ? output?.replace(/\s*<task_metadata>[\s\S]*$/, "") : output
  const shown = error ?? (diffs.length ? "" : said ?? metadata.output ?? "")
  return html`<div class="body">
    ${part.tool === "bash" ? html`<${Code} text=${input.command ?? ""} language="bash" />` : null}
    ${diffs.map((one) => html`<div key=${one.file}>${diffs.length > 1 ? html`<p class="filename"><code>${visible(one.file)}</code></p>` : null}<${Diff} text=${one.text} /></div>`)}
    ${part.tool === "write" && status === "completed" ? html`<${Written} part=${part} />` : null}
    ${part.tool === "todowrite" ? html`<${Todos} todos=${input.todos ?? []} />` : null}
    ${part.tool === "task" ? html`<p class="asked">${visible(input.prompt)}</p>` : null}
    ${part.tool === "question" ? html`<${Answers} questions=${input.questions} answers=${metadata.answers} />` : null}
    ${diagnostics(metadata).map((one) => html`<p class="error line">${visible(one)}</p>`)}
    ${shown && !(QUIET.includes(part.tool) && !error) ? html`<${Output} text=${shown} bad=${Boolean(error)} language=${part.tool === "read" ? languageOf(input.filePath) : ""} />` : null}
    <p class="actions">
      ${child ? html`<button type="button" class="link" onclick=${() => select(child)}>Open the agent’s session</button>` : null}
      ${status === "completed" && (diffs.length || part.tool === "write") ? html`<button type="button" class="link" onclick=${() => changed(() => (state.panel = { name: "undo", selection: { call: part.callID }, title: "Undo this call" }))}>Undo this call…</button>` : null}
      ${status !== "pending" && part.tool !== "invalid" ? html`<button type="button" class="link" onclick=${() => changed(() => (state.panel = { name: "explain", tool: part.tool, input, agent: state.messages.get(part.messageID)?.info.agent }))}>Why was this allowed?</button>` : null}
    </p>
  </div>`
}

// What a write did to its file: the part itself does not say.
function Written({ part }) {
  const [made, setMade] = useState(null)
  useEffect(() => {
    get(`/tw/session/${part.sessionID}/changes?call=${encodeURIComponent(part.callID)}`).then(setMade, () => setMade([]))
  }, [part.callID])
  return (made ?? []).filter((one) => one.diff).map((one) => html`<${Diff} key=${one.file} text=${one.diff} />`)
}

function diagnostics(metadata) {
  const found = metadata.diagnostics && typeof metadata.diagnostics === "object" ? Object.values(metadata.diagnostics).flat() : []
  return found.filter((one) => one?.severity === 1).slice(0, 5).map((one) => `line ${(one.range?.start?.line ?? 0) + 1}: ${one.message}`)
}

function Output({ text, bad }) {
  const [all, setAll] = useState(false)
  const shown = all ? text : text.slice(-OUTPUT)
  return html`<div>
    ${shown.length < text.length ? html`<button type="button" class="link" onclick=${() => setAll(true)}>Show all ${plural(text.length, "character")}</button>` : null}
    <pre class=${bad ? "output bad" : "output"} tabindex="0">${visible(shown)}</pre>
  </div>`
}

const MARKS = { completed: "done", in_progress: "doing", cancelled: "dropped" }

export function Todos({ todos }) {
  return html`<ul class="todos">${todos.map((one, at) => html`<li key=${at} class=${MARKS[one.status] ?? ""}><span class="box" role="img" aria-label=${(one.status ?? "pending").replace("_", " ")}>${one.status === "completed" ? icon("check") : null}</span><span>${visible(one.content)}</span></li>`)}</ul>`
}

function Answers({ questions = [], answers = [] }) {
  return html`<dl class="answers">${questions.map((one, at) => [html`<dt>${visible(one.question)}</dt>`, html`<dd>${visible(answers[at]?.join(", ") || "not answered")}</dd>`])}</dl>`
}
