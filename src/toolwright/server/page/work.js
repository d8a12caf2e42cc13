// The work of a session at a glance: its agents, its plan, the files it changed, what it took.
import { open } from "./panels.js"
import { Todos } from "./parts.js"
import { html } from "./preact.js"
import { above, below, select, state, useOf } from "./store.js"
import { count, money } from "./ui.js"

export function Work() {
  if (!state.current) return html`<aside id="work" aria-label="Work"></aside>`
  const top = above(state.current).at(-1) ?? state.current
  return html`<aside id="work" aria-label="Work">
    <${Use} />
    ${below(top).length ? html`<section><h3>Agents</h3><ul class="tree" role="tree" aria-label="Agents"><${Branch} id=${top} /></ul></section>` : null}
    ${state.todos.length ? html`<section><h3>Plan</h3><${Todos} todos=${state.todos} /></section>` : null}
    ${state.changes.length ? html`<section><h3>Changed files</h3><ul class="changes">${state.changes.map((one) => html`<li key=${one.file}><button type="button" title="Show and undo" onclick=${() => open("undo", { selection: { file: one.file }, title: one.file })}><code>${one.file}</code><span class="meta"><span class="plus">+${one.additions}</span> <span class="minus">−${one.deletions}</span></span></button></li>`)}</ul></section>` : null}
  </aside>`
}

function Branch({ id }) {
  const info = state.sessions.get(id)
  if (!info) return null
  const children = below(id)
  const waits = state.questions.some((one) => one.request.sessionID === id)
  const [, what, agent] = info.title.match(/^(.*) \(@(\S+) subagent\)$/) ?? [, info.title]
  const kind = waits ? "waits" : state.status[id] ? "running" : "completed"
  return html`<li role="treeitem" aria-expanded=${children.length ? "true" : undefined}>
    <button type="button" aria-current=${String(id === state.current)} onclick=${() => select(id)}><span class=${`state ${kind}`} role="img" aria-label=${kind}></span><span class="title" title=${info.title}>${info.parentID ? what : "Main"}</span>${agent ? html`<span class="badge">${agent}</span>` : null}</button>
    ${children.length ? html`<ul role="group">${children.map((one) => html`<${Branch} key=${one.id} id=${one.id} />`)}</ul>` : null}
  </li>`
}

function Use() {
  const { cost, tokens, context, limit, last } = useOf()
  if (!tokens) return null
  return html`<section class="use"><h3>Context</h3>
    <p>${limit ? html`<meter max=${limit} high=${limit * 0.8} value=${context} aria-label="Context in use"></meter>` : null}<span>${count(context)}${limit ? ` of ${count(limit)} tokens` : " tokens"}</span></p>
    <p class="faint"><button type="button" class="link" onclick=${() => open("usage")}>${money(cost)}</button> · ${count(tokens)} tokens in all${last ? ` · ${last.modelID.split("/").at(-1)}` : ""}</p>
  </section>`
}

export function Glance() {
  const { cost, context, limit } = useOf()
  if (!context) return null
  const share = limit ? Math.round((100 * context) / limit) : 0
  return html`<button type="button" class="ghost glance" id="use" title="Usage" onclick=${() => open("usage")}>${limit ? html`<meter max="100" high="80" value=${share} aria-label="Context in use"></meter>${share}%` : `${count(context)} tokens`}<span>${money(cost)}</span></button>`
}
