// Questions to the person: permissions with all that helps to decide, and choices with their options.
import { Failed, get, post } from "./api.js"
import { Diff } from "./diff.js"
import { Code } from "./markdown.js"
import { html, useEffect, useRef, useState } from "./preact.js"
import { above, changed, complain, fromHome, select, state } from "./store.js"
import { Dialog, nameOf, visible } from "./ui.js"

export function Asked() {
  const next = state.questions.find((one) => !state.later.has(one.request.id))
  if (!next || state.panel) return null
  const { kind, request } = next
  const later = () => changed(() => state.later.add(request.id))
  const keys = (event) => {
    if (kind === "permission" && event.key === "Enter" && (event.ctrlKey || event.metaKey))
      send(request, `/permission/${request.id}/reply`, { reply: "once" })
  }
  return html`<${Dialog} key=${request.id} label=${kind === "permission" ? "Permission" : "Question"} wide=${Boolean(request.metadata?.diff)} said=${state.toast?.wrong} onclose=${later} onkeydown=${keys} onearly=${intoPrompt}>
    <${kind === "permission" ? Permission : Questions} request=${request} />
  <//>`
}

// A letter that somebody was typing when the question appeared.
function intoPrompt(letter) {
  const box = /** @type {HTMLTextAreaElement | null} */ (document.getElementById("prompt"))
  if (!box?.value) return
  box.setRangeText(letter, box.selectionStart, box.selectionEnd, "end")
  box.dispatchEvent(new Event("input", { bubbles: true }))
}

export function Waiting() {
  const put = state.questions.filter((one) => state.later.has(one.request.id))
  if (!put.length) return null
  return html`<p id="waiting"><button type="button" class="main" onclick=${() => changed(() => state.later.clear())}>${put.length === 1 ? "A question waits" : `${put.length} questions wait`}: answer</button></p>`
}

async function send(request, path, body) {
  try {
    await post(path, body)
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    complain(error.message)
    if (error.status === 404)
      changed(() => (state.questions = state.questions.filter((one) => one.request.id !== request.id)))
  }
}

// Permissions.

/** @type {[string, string, () => string][]} */
const SCOPES = [
  ["session", "this session", () => "until the session ends"],
  ["project", "this project", () => `in ${nameOf(state.directory)}, from now on`],
  ["user", "everywhere", () => "in all your projects, from now on"],
]

function Permission({ request }) {
  const { metadata = {}, call = {}, always = [], patterns = [] } = request
  const [scope, setScope] = useState("project")
  const [rules, setRules] = useState(always)
  const [left, setLeft] = useState([])
  const edited = rules.some((one, at) => one !== always[at])
  const trial = useTrial(request.id, rules)
  const [words, setWords] = useState("")
  const [sent, setSent] = useState(false)
  const reply = (answer, more = {}) => {
    setSent(true)
    send(request, `/permission/${request.id}/reply`, { reply: answer, ...more }).then(() => setSent(false))
  }
  const chosen = rules.filter((_, at) => !left.includes(at))
  const allowAlways = () =>
    reply("always", { scope, ...(left.length || edited ? { patterns: chosen.map((one) => one.trim()) } : {}) })
  const flip = (at) => setLeft(left.includes(at) ? left.filter((other) => other !== at) : [...left, at])
  const edit = (at, text) => setRules(rules.map((one, place) => (place === at ? text : one)))
  const command = call.arguments?.command
  const what = visible(call.subject ?? "")
  return html`<div>
    <header><p class="faint"><${From} id=${request.sessionID} agent=${call.agent} /></p>
      <h2><b>${call.agent ?? "The agent"}${call.name ? ` (${call.name}, in the background)` : ""}</b> wants to ${visible(call.wish ?? `use ${request.permission}`)}</h2></header>
    ${command ? html`<${Code} text=${command} language="bash" />` : null}
    ${command && call.arguments.workdir ? html`<p class="faint">in <code>${call.arguments.workdir}</code></p>` : null}
    ${command && call.arguments.description ? html`<p class="faint">“${call.arguments.description}”</p>` : null}
    ${metadata.diff ? html`<p class="filename"><code>${what || metadata.filepath}</code></p><${Diff} text=${metadata.diff} />` : null}
    ${command || metadata.diff ? null : html`<pre class="output">${what || patterns.join("\n")}</pre>`}
    ${(metadata.acts ?? []).map((one) => html`<p key=${one} class="error line">${one}</p>`)}
    ${sameAs(patterns, command, what) ? null : html`<p class="touches"><span class="faint">It touches</span> ${patterns.map((one) => html`<code key=${one}>${one}</code> `)}</p>`}
    <${Why} request=${request} />
    ${
      always.length
        ? html`<fieldset class="always">
      <legend>“Always allow” would store ${always.length === 1 ? "this rule" : "these rules"}</legend>
      ${rules.map((one, at) => html`<div key=${at} class="rule">${always.length > 1 ? html`<input type="checkbox" aria-label=${`Store ${one}`} checked=${!left.includes(at)} onchange=${() => flip(at)} />` : null}<${Rule} permission=${request.permission} text=${one} first=${always[at]} onedit=${(text) => edit(at, text)} /></div>`)}
      ${edited || trial.earlier?.length ? html`<${Trial} ...${trial} />` : null}
      <div class="scopes" role="radiogroup" aria-label="Scope">${SCOPES.map(([name, label, about]) => html`<label key=${name} class=${scope === name ? "on" : ""}><input type="radio" name="scope" value=${name} checked=${scope === name} onchange=${() => setScope(name)} /><span>${label}</span><small>${about()}</small></label>`)}</div>
    </fieldset>`
        : html`<p class="faint">This can only be allowed once at a time.</p>`
    }
    <footer>
      <button type="button" class="main" disabled=${sent} title="Ctrl Enter" onclick=${() => reply("once")}>Allow once</button>
      <button type="button" disabled=${sent || !chosen.length || (edited && !trial.settles)} onclick=${allowAlways}>Always allow</button>
      <span class="grow"></span>
      <input type="text" aria-label="What to do instead" placeholder="What to do instead" value=${words} oninput=${(event) => setWords(event.currentTarget.value)} onkeydown=${(event) => event.key === "Enter" && !event.ctrlKey && words && reply("reject", { message: words })} />
      <button type="button" class="danger" disabled=${sent} onclick=${() => reply("reject", words ? { message: words } : {})}>Reject</button>
    </footer>
  </div>`
}

// A rule may be edited, unless something in it could not be seen while it is.
// A rule for something else that the same call asks for begins with its name: (edit) build.
function ruleOf(permission, text) {
  const other = /^\(([a-z_]+)\) (.*)$/s.exec(text)
  return other && !(permission === "external_directory" && other[1] === "read")
    ? `${other[1]} ${other[2]}`
    : `${permission} ${text}`
}

function Rule({ permission, text, first, onedit }) {
  const [open, setOpen] = useState(false)
  const field = useRef(null)
  useEffect(() => field.current?.focus(), [open])
  const plain = visible(first) === first && !first.includes("\n")
  if (!open)
    return html`<code>${ruleOf(permission, text)}</code>${plain ? html`<button type="button" class="link" onclick=${() => setOpen(true)}>Edit</button>` : null}`
  return html`<code>${permission}</code><input ref=${field} type="text" aria-label="Rule" spellcheck="false" autocapitalize="off" autocomplete="off" title="A * at the end stands for anything" value=${text} oninput=${(event) => onedit(event.currentTarget.value)} />`
}

// Tells what storing these rules would mean.
function useTrial(id, rules) {
  const [found, setFound] = useState(null)
  const wanted = JSON.stringify(rules.map((one) => one.trim()))
  useEffect(() => {
    if (!rules.length) return undefined
    let current = true
    const tell = (answer) => current && setFound({ ...answer, wanted })
    post(`/tw/permission/${id}/try`, { patterns: JSON.parse(wanted) }).then(tell, (error) =>
      tell({ settles: false, reason: error.message, earlier: [] }),
    )
    return () => (current = false)
  }, [wanted])
  return found?.wanted === wanted ? found : { settles: false, waits: true }
}

const NAMED = 5

function Trial({ settles, waits, reason, earlier }) {
  if (waits) return html`<p class="trial faint">What it answers: …</p>`
  if (!settles) return html`<p class="trial wrong">This does not answer the question: ${reason}.</p>`
  if (!earlier.length) return html`<p class="trial faint">Covers this call; none of the earlier ones.</p>`
  return html`<div class="trial faint"><p>Covers this call and ${earlier.length === 1 ? "one" : earlier.length} asked before:</p>
    <ul>${earlier.slice(0, NAMED).map((one) => html`<li key=${one}><code>${one}</code></li>`)}</ul>${earlier.length > NAMED ? html`<p>and ${earlier.length - NAMED} more</p>` : null}</div>`
}

const sameAs = (patterns, command, what) => patterns.length === 1 && (patterns[0] === command || patterns[0] === what)

function From({ id, agent }) {
  const info = state.sessions.get(id)
  const top = state.sessions.get(above(id).at(-1)) ?? info
  const other = top && top.id !== state.current
  return html`<span>${info?.parentID ? `${agent}, a subagent in ` : "In "}${other ? html`<button type="button" class="link" onclick=${() => select(top.id)}>${top.title}</button>` : (top?.title ?? "a session")}</span>`
}

function Why({ request }) {
  const [found, setFound] = useState(null)
  useEffect(() => {
    get(`/tw/permission/explain?request=${encodeURIComponent(request.id)}`).then(
      (answer) => setFound(answer.requests[0]),
      () => {},
    )
  }, [request.id])
  if (!found) return html`<p class="why faint">Why it is asked: …</p>`
  return html`<details class="why"><summary><span class="faint">Why it is asked:</span> ${reason(found)}</summary><pre class="output">${found.why.join("\n")}</pre></details>`
}

function reason(found) {
  if (found.mustAsk) return "not all of the command could be understood, so it is asked whatever the rules say."
  const deciding = found.decided.find((one) => one.action === found.action) ?? found.decided[0]
  if (!deciding?.rule) return "no rule speaks of it."
  return html`the rule <code>${deciding.rule}</code>${deciding.source ? html` in <code>${fromHome(deciding.source)}</code>` : deciding.layer ? ` (${deciding.layer})` : ""}.`
}

// Questions.

function Questions({ request }) {
  const [answers, setAnswers] = useState(request.questions.map(() => []))
  const [own, setOwn] = useState(request.questions.map(() => ""))
  const single = request.questions.length === 1 && !request.questions[0].multiple
  const submit = (given) =>
    send(request, `/question/${request.id}/reply`, {
      answers: given.map((one, at) => (own[at].trim() ? [...one, own[at].trim()] : one)),
    })
  const pick = (at, label) => {
    const { multiple } = request.questions[at]
    const before = answers[at]
    const now = multiple
      ? before.includes(label)
        ? before.filter((one) => one !== label)
        : [...before, label]
      : [label]
    const all = answers.map((one, place) => (place === at ? now : one))
    setAnswers(all)
    if (single) submit(all)
  }
  return html`<div>
    <header><p class="faint"><${From} id=${request.sessionID} agent="an agent" /></p></header>
    ${request.questions.map(
      (one, at) => html`<section key=${at} class="question">
      <h2>${one.question}</h2>
      <div class="options">${(one.options ?? []).map((option) => html`<button key=${option.label} type="button" aria-label=${option.label} aria-pressed=${String(answers[at].includes(option.label))} onclick=${() => pick(at, option.label)}><b>${option.label}</b>${option.description ? html`<small>${option.description}</small>` : null}</button>`)}</div>
      ${one.custom === false ? null : html`<input type="text" aria-label="Your own answer" placeholder="In your own words" value=${own[at]} oninput=${(event) => setOwn(own.map((words, place) => (place === at ? event.currentTarget.value : words)))} onkeydown=${(event) => event.key === "Enter" && submit(answers)} />`}
    </section>`,
    )}
    <footer>
      <button type="button" class="main" onclick=${() => submit(answers)}>Answer</button>
      <button type="button" onclick=${() => send(request, `/question/${request.id}/reject`)}>Decline</button>
    </footer>
  </div>`
}
