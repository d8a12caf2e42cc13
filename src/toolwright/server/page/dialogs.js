// What a person is asked: permissions with what they allow, and questions with their options.
import { post } from "./api.js"
import { $, el } from "./dom.js"
import { diff } from "./text.js"

const waiting = []
let open = null

export function ask(kind, request) {
  if (waiting.some((one) => one.request.id === request.id)) return
  waiting.push({ kind, request })
  show()
}

export function settled(id) {
  const at = waiting.findIndex((one) => one.request.id === id)
  if (at >= 0) waiting.splice(at, 1)
  if (open === id) {
    open = null
    $("dialog").close()
  }
  show()
}

export const sessionsWaiting = () => new Set(waiting.map((one) => one.request.sessionID))

function show() {
  if (open || !waiting.length) return
  const { kind, request } = waiting[0]
  open = request.id
  const box = $("dialog")
  box.setAttribute("aria-label", kind === "permission" ? "Permission" : "Question")
  box.replaceChildren(...(kind === "permission" ? permission(request) : question(request)))
  box.showModal()
  box.querySelector("button")?.focus()
}

async function send(path, body) {
  try {
    await post(path, body)
  } catch (error) {
    $("note").textContent = error.message
    settled(open)
  }
}

function permission(request) {
  const reply = (answer, more = {}) => send(`/permission/${request.id}/reply`, { reply: answer, ...more })
  const { metadata = {}, call = {}, always = [] } = request
  const command = call.arguments?.command
  const words = el("input", { type: "text", "aria-label": "What to do instead", placeholder: "What to do instead (optional)" })
  const scope = el(
    "select",
    { "aria-label": "Scope" },
    ["session", "project", "user"].map((one) => el("option", { value: one, selected: one === "project" }, `for this ${one}`)),
  )
  return [
    el("h3", {}, `May ${call.agent ?? "the agent"} use ${request.permission}?`),
    command ? el("pre", {}, command) : null,
    metadata.diff ? diff(metadata.diff) : null,
    el("p", {}, request.patterns.map((one) => el("code", {}, one))),
    always.length ? el("p", { class: "rule" }, "Always would store: ", always.map((one) => el("code", {}, `${request.permission} ${one}: allow`)), " ", scope) : null,
    words,
    el(
      "footer",
      {},
      el("button", { type: "button", class: "main", onclick: () => reply("once") }, "Allow once"),
      el("button", { type: "button", disabled: !always.length, onclick: () => reply("always", { scope: scope.value }) }, "Always allow"),
      el("button", { type: "button", onclick: () => reply("reject", words.value ? { message: words.value } : {}) }, "Reject"),
    ),
  ].filter(Boolean)
}

function question(request) {
  const answers = request.questions.map(() => [])
  const submit = () => send(`/question/${request.id}/reply`, { answers })
  const single = request.questions.length === 1 && !request.questions[0].multiple
  const blocks = request.questions.map((one, at) => {
    const pick = (label, button) => {
      if (one.multiple) {
        const has = answers[at].includes(label)
        answers[at] = has ? answers[at].filter((other) => other !== label) : [...answers[at], label]
        button.setAttribute("aria-pressed", String(!has))
      } else {
        answers[at] = [label]
        if (single) return submit()
        for (const other of button.parentElement.children) other.setAttribute("aria-pressed", String(other === button))
      }
    }
    const own = el("input", { type: "text", "aria-label": "Your own answer", placeholder: "In your own words" })
    own.addEventListener("change", () => own.value && (answers[at] = [own.value]))
    const options = (one.options ?? []).map((option) =>
      el("button", { type: "button", title: option.description, onclick: (event) => pick(option.label, event.currentTarget) }, option.label),
    )
    return el("div", { class: "question" }, el("h3", {}, one.question), el("div", { class: "options" }, options), one.custom === false ? null : own)
  })
  return [
    ...blocks,
    el(
      "footer",
      {},
      el("button", { type: "button", class: "main", onclick: submit }, "Answer"),
      el("button", { type: "button", onclick: () => send(`/question/${request.id}/reject`) }, "Decline"),
    ),
  ]
}
