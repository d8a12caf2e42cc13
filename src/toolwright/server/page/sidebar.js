// The side: projects, a search, and the sessions, those that wait for an answer first.
import { html } from "./preact.js"
import { changed, lookFor, openFolder, select, state, waitingIn } from "./store.js"
import { ago, icon, nameOf, visible } from "./ui.js"

export function listed() {
  const wanted = state.search.toLowerCase()
  const waiting = waitingIn()
  return [...state.sessions.values()]
    .filter((one) => !one.parentID && !one.time.archived)
    .filter((one) => one.title.toLowerCase().includes(wanted) || state.hits.has(one.id))
    .sort(
      (one, other) =>
        Number(waiting.has(other.id)) - Number(waiting.has(one.id)) || other.time.updated - one.time.updated,
    )
    .slice(0, 200)
}

export function Sidebar() {
  const waiting = waitingIn()
  return html`<nav id="side" aria-label="Projects and sessions">
    <header><h1>toolwright</h1><button type="button" class="ghost" aria-label="New session" title="New session (Alt N)" onclick=${() => select("")}>${icon("plus")}</button></header>
    ${state.folders.length > 1 ? html`<${Folders} />` : null}
    <input id="search" type="search" placeholder="Search sessions" aria-label="Search sessions" value=${state.search} oninput=${(
      event,
    ) => {
      lookFor(event.currentTarget.value)
    }} />
    <ul id="sessions" aria-label="Sessions">
      ${listed().map(
        (
          one,
        ) => html`<li key=${one.id}><button type="button" aria-current=${String(one.id === state.current)} onclick=${() => select(one.id)}>
        <span class="title">${one.title}</span>${badge(one, waiting)}${passage(one)}
      </button></li>`,
      )}
    </ul>
    <footer class="faint"><span title=${state.directory}>${nameOf(state.directory)}</span></footer>
  </nav>`
}

// Messages of a session that have the words of a search.
function passage(one) {
  const found = state.search && state.hits.get(one.id)
  if (!found?.messageID) return null
  return html`<span class="passage">${found.pieces.map(([text, marked]) => (marked ? html`<mark>${visible(text)}</mark>` : visible(text)))}</span>`
}

function badge(one, waiting) {
  if (waiting.has(one.id)) return html`<span class="badge waits">waits</span>`
  if (state.status[one.id])
    return html`<span class="badge"><span class="state running" role="img" aria-label="at work"></span></span>`
  return html`<time class="badge">${ago(one.time.updated)}</time>`
}

function Folders() {
  return html`<ul id="folders" aria-label="Projects">${state.folders.map((one) => {
    const waiting = state.elsewhere.get(one.directory)
    return html`<li key=${one.directory}><button type="button" title=${one.directory} aria-current=${String(one.directory === state.directory)} onclick=${() => openFolder(one.directory)}>${nameOf(one.directory)}${waiting ? html` <span class="badge waits">${waiting}</span>` : null}</button></li>`
  })}</ul>`
}
