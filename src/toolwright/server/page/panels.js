// Panels that open over the page: undo, reasons, approvals, use, names, keys.
import { ask, get, post } from "./api.js"
import { Diff } from "./diff.js"
import { html, useEffect, useState } from "./preact.js"
import { changed, fromHome, guarded, notifies, remove, say, select, state, toggleNotifications } from "./store.js"
import { came } from "./prompt.js"
import { Dialog, count, download, money, plural, visible } from "./ui.js"

const close = () => changed(() => (state.panel = null))
export const open = (name, more = {}) => changed(() => (state.panel = { name, ...more }))

const PANELS = {
  undo: Undo,
  explain: Explain,
  approvals: Approvals,
  usage: Usage,
  rename: Rename,
  remove: Remove,
  keys: Keys,
  outcome: Outcome,
  connect: Key,
  account: Account,
  login: Login,
}
const LABELS = {
  undo: "Undo",
  explain: "Why it was allowed",
  approvals: "Approvals",
  usage: "Usage",
  rename: "Rename",
  remove: "Delete",
  keys: "Keys",
  outcome: "Command",
  connect: "Store a key",
  account: "Another account",
  login: "Log in",
}

export function Panel() {
  const { panel } = state
  if (!panel) return null
  return html`<${Dialog} key=${panel.name} label=${LABELS[panel.name]} wide=${panel.name === "undo"} said=${state.toast?.wrong} onclose=${close}><${PANELS[panel.name]} ...${panel} /><//>`
}

const Close = ({ children = "Close" }) => html`<button type="button" onclick=${close}>${children}</button>`

// A promise as what it came to.
function useLoaded(work, inputs) {
  const [found, setFound] = useState({})
  useEffect(() => {
    let current = true
    work().then(
      (value) => current && setFound({ value }),
      (error) => current && setFound({ error: error.message }),
    )
    return () => (current = false)
  }, inputs)
  return found
}

// Undo, with everything it would do shown first.

function Undo({ selection, title }) {
  const id = state.current
  const { value, error } = useLoaded(() => post(`/tw/session/${id}/revert`, { ...selection, preview: true }), [])
  const [left, setLeft] = useState(new Set())
  const files = value?.files ?? []
  const every = files.flatMap((one) => one.hunks.map((hunk) => hunk.id))
  const wanted = every.filter((one) => !left.has(one))
  const flip = (ids, on) => {
    const now = new Set(left)
    for (const one of ids) on ? now.delete(one) : now.add(one)
    setLeft(now)
  }
  const undo = guarded(async () => {
    const whole = wanted.length === every.length
    if (selection.turn && whole) await post(`/session/${id}/revert`, { messageID: selection.turn })
    else await post(`/tw/session/${id}/revert`, { ...selection, ...(whole ? {} : { hunks: wanted }) })
    close()
    const redo = guarded(async () => {
      await post(`/session/${id}/unrevert`)
      say("Made again.")
    })
    say(
      selection.turn && whole
        ? "Undone from there on."
        : `Undone: ${plural(files.filter((one) => one.hunks.some((hunk) => wanted.includes(hunk.id))).length, "file")}.`,
      { label: "Redo", act: redo },
    )
    if (state.current === id) await select(id)
  })
  // A turn without changes can be undone as well: what was said in it no longer counts.
  const talk = value && selection.turn && !files.length
  return html`<header><h2>${title}</h2><p class="faint">${files.length ? "This is what would happen to the files. Choose what to undo." : error ? "" : talk ? "No file was changed. What was said from there on is left out from now on." : "Looking…"}</p></header>
    ${error ? html`<p class="error">${error}</p>` : null}
    <div class="undo">${files.map((one) => {
      const ids = one.hunks.map((hunk) => hunk.id)
      const on = ids.filter((hunk) => !left.has(hunk)).length
      return html`<section key=${one.file}>
        <label class="filename"><input type="checkbox" checked=${on === ids.length} indeterminate=${on > 0 && on < ids.length} onchange=${(event) => flip(ids, event.currentTarget.checked)} /><code>${one.file}</code><span class="meta">${one.kind === "delete" ? "is deleted" : one.kind === "recreate" ? "comes back" : plural(ids.length, "piece")}</span></label>
        ${one.hunks.map(
          (hunk, at) => html`<div key=${hunk.id} class=${left.has(hunk.id) ? "hunk off" : "hunk"}>
          ${ids.length > 1 ? html`<label><input type="checkbox" aria-label=${`Piece ${at + 1} of ${one.file}`} checked=${!left.has(hunk.id)} onchange=${(event) => flip([hunk.id], event.currentTarget.checked)} />Piece ${at + 1}</label>` : null}
          <${Diff} text=${hunk.text} />
        </div>`,
        )}
      </section>`
    })}</div>
    <footer><button type="button" class="main" disabled=${!(wanted.length || talk)} onclick=${undo}>Undo${wanted.length < every.length ? ` ${plural(wanted.length, "piece")}` : ""}</button><${Close}>Cancel<//></footer>`
}

// Why a call was allowed.

function Explain({ tool, shown, input, agent }) {
  const query = new URLSearchParams({ tool, args: JSON.stringify(input), agent: agent ?? "" })
  const { value, error } = useLoaded(() => get(`/tw/permission/explain?${query}`), [])
  return html`<header><h2>${shown.verb} <code>${visible(shown.subject)}</code></h2><p class="faint">What the rules say of this call as they stand now.</p></header>
    ${error ? html`<p class="error">${error}</p>` : null}
    ${value && !value.requests.length ? html`<p>It asks for no permission${value.note ? ":" : "."}</p>` : null}
    ${value?.note ? html`<pre class="output">${value.note}</pre>` : null}
    ${(value?.requests ?? []).map(
      (one, at) => html`<section key=${at} class="explained">
      <h3><span class=${`verdict ${one.action}`}>${one.action}</span> <code>${one.permission}</code></h3>
      <ul>${one.decided.map((each, place) => html`<li key=${place}><code>${each.pattern}</code> ${each.rule ? html`by <code>${each.rule}</code> <span class="faint">${fromHome(each.source || each.layer)}</span>` : html`<span class="faint">no rule fits</span>`}</li>`)}</ul>
      <p class="faint">${one.action === "ask" ? "The rules ask about it, and somebody allowed it. " : ""}${one.advice}</p>
      <details><summary>All rules that fit</summary><pre class="output">${one.why.join("\n")}</pre></details>
    </section>`,
    )}
    <footer><${Close} /></footer>`
}

// Standing approvals.

function Approvals() {
  const [version, setVersion] = useState(0)
  const { value, error } = useLoaded(() => get("/tw/approvals"), [version])
  const revoke = guarded(async ({ permission, pattern }) => {
    await ask("DELETE", `/tw/approvals?${new URLSearchParams({ permission, pattern })}`)
    setVersion(version + 1)
  })
  return html`<header><h2>Approvals</h2><p class="faint">What you have allowed for good. Revoked, it is asked about again.</p></header>
    ${error ? html`<p class="error">${error}</p>` : null}
    ${value?.length === 0 ? html`<p>Nothing yet. “Always allow” in a permission dialog stores a rule here.</p>` : null}
    <ul class="rows">${(value ?? []).map((one) => html`<li key=${one.scope + one.permission + one.pattern}><code>${one.permission} ${one.pattern}</code><span class="meta">${one.scope === "user" ? "everywhere" : "this project"}</span><button type="button" aria-label=${`Revoke ${one.permission} ${one.pattern}`} onclick=${() => revoke(one)}>Revoke</button></li>`)}</ul>
    <footer><${Close} /></footer>`
}

// The use of the sessions.

function Usage() {
  const { value, error } = useLoaded(() => get("/tw/usage?limit=50"), [])
  const rows = (value ?? []).filter((one) => one.tokens || one.cost)
  const cost = rows.reduce((sum, one) => sum + one.cost, 0)
  const most = Math.max(...rows.map((one) => one.tokens), 1)
  return html`<header><h2>Usage</h2><p class="faint">${value ? `${plural(rows.length, "session")} of this project, ${count(rows.reduce((sum, one) => sum + one.tokens, 0))} tokens, ${money(cost)}` : "Adding up…"}</p></header>
    ${error ? html`<p class="error">${error}</p>` : null}
    <div class="table"><table><thead><tr><th>Session</th><th class="right">Tokens</th><th></th><th class="right">Cost</th></tr></thead>
      <tbody>${rows.map(
        (one) =>
          html`<tr key=${one.sessionID}><td><button type="button" class="link" onclick=${() => {
            close()
            select(one.sessionID)
          }}>${one.title}</button></td><td class="right">${count(one.tokens)}</td><td class="bar"><meter max=${most} value=${one.tokens}></meter></td><td class="right">${money(one.cost)}</td></tr>`,
      )}</tbody></table></div>
    <footer><${Close} /></footer>`
}

// The outcome of a command: lines to read, something to choose, or differences of files.

function Outcome({ outcome, command: name }) {
  const pick = guarded(async (value) => {
    close()
    await came(await post("/tw/line", { text: `/${name} ${value}`, session: state.current, ...state.chosen }))
  })
  return html`<header><h2>${outcome.title}</h2></header>
    ${outcome.lines ? html`<pre class="output" tabindex="0">${outcome.lines.map(([text]) => text).join("\n")}</pre>` : null}
    ${outcome.files?.length === 0 ? html`<p>${outcome.none}</p>` : null}
    ${(outcome.files ?? []).map((one) => html`<section key=${one.file}><p class="filename"><code>${one.file}</code></p><${Diff} text=${one.diff} /></section>`)}
    <ul class="rows">${(outcome.entries ?? []).map(([value, text]) => html`<li key=${value}><button type="button" class="link" aria-current=${value === outcome.chosen ? "true" : undefined} onclick=${() => pick(value)}>${visible(text)}</button></li>`)}</ul>
    <footer><${Close} /></footer>`
}

// Connecting a provider: its key, another account there, or a login that the server sees through.

// Runs a command and shows its outcome; `/connect` lists what there is.
export const command = guarded(async (text) => {
  close()
  await came(await post("/tw/line", { text, session: state.current, ...state.chosen }))
})

async function connected(provider) {
  const { providers } = await get("/config/providers")
  const doctor = await get("/tw/doctor")
  changed(() => Object.assign(state, { providers, doctor }))
  await command(`/connect ${provider}`)
}

function Key({ provider }) {
  const [key, setKey] = useState("")
  const store = guarded(async (event) => {
    event.preventDefault()
    await ask("PUT", `/auth/${encodeURIComponent(provider)}`, { type: "api", key })
    await connected(provider)
  })
  return html`<form onsubmit=${store}><header><h2>Key for ${provider}</h2><p class="faint">It is stored where the server runs, readable by you alone.</p></header>
    <input type="password" aria-label="Key" autocomplete="off" placeholder="Paste the key" value=${key} oninput=${(event) => setKey(event.currentTarget.value)} />
    <footer><button class="main" disabled=${!key.trim()}>Store</button><${Close}>Cancel<//></footer></form>`
}

function Account({ provider }) {
  const [name, setName] = useState("")
  const go = (event) => {
    event.preventDefault()
    command(`/connect ${provider}@${name.trim()}`)
  }
  return html`<form onsubmit=${go}><header><h2>Another account at ${provider}</h2><p class="faint">Its models are named ${provider}@NAME/…</p></header>
    <input type="text" aria-label="Name" placeholder="A name for it, such as work" value=${name} oninput=${(event) => setName(event.currentTarget.value)} />
    <footer><button class="main" disabled=${!name.trim()}>Go on</button><${Close}>Cancel<//></footer></form>`
}

function Login({ provider }) {
  const [begun, setBegun] = useState(null)
  const [wrong, setWrong] = useState("")
  const [code, setCode] = useState("")
  const path = `/provider/${encodeURIComponent(provider)}/oauth`
  const finish = async (way, more = {}) => {
    await post(`${path}/callback`, { method: way, ...more })
    await connected(provider)
  }
  useEffect(() => {
    const begin = async () => {
      const ways = (await get("/provider/auth"))[provider.split("@")[0]] ?? []
      const way = ways.findIndex((one) => one.type === "oauth")
      const found = await post(`${path}/authorize`, { method: way })
      setBegun({ ...found, way })
      if (!found) await connected(provider)
      else if (found.method !== "code") await finish(way)
    }
    begin().catch((error) => setWrong(error.message))
  }, [provider])
  const enter = guarded(async (event) => {
    event.preventDefault()
    await finish(begun.way, { code: code.trim() })
  })
  return html`<form onsubmit=${enter}><header><h2>Log in to ${provider}</h2></header>
    ${begun?.instructions ? html`<p>${linked(begun.instructions)}</p>` : null}
    ${begun?.url && !begun.instructions?.includes(begun.url) ? html`<p>${linked(begun.url)}</p>` : null}
    ${begun?.method === "code" ? html`<input type="text" aria-label="Code" placeholder="The code that you are given" value=${code} oninput=${(event) => setCode(event.currentTarget.value)} />` : null}
    ${wrong ? html`<p class="error">${wrong}</p>` : html`<p class="faint">${begun ? "Waiting for you…" : "…"}</p>`}
    <footer>${begun?.method === "code" ? html`<button class="main" disabled=${!code.trim()}>Log in</button>` : null}<${Close}>Cancel<//></footer></form>`
}

const linked = (text) =>
  text
    .split(/(https?:\/\/\S+)/)
    .map((one, at) => (at % 2 ? html`<a href=${one} target="_blank" rel="noreferrer noopener">${one}</a>` : one))

// The session itself.

function Rename({ id }) {
  const [title, setTitle] = useState(visible(state.sessions.get(id)?.title ?? ""))
  const save = guarded(async (event) => {
    event.preventDefault()
    if (title.trim()) await ask("PATCH", `/session/${id}`, { title: title.trim() })
    close()
  })
  return html`<form onsubmit=${save}><header><h2>Rename</h2></header>
    <input type="text" aria-label="Title" value=${title} oninput=${(event) => setTitle(event.currentTarget.value)} />
    <footer><button class="main">Save</button><${Close}>Cancel<//></footer></form>`
}

function Remove({ id }) {
  const gone = async () => {
    await remove(id)
    close()
  }
  return html`<header><h2>Delete “${state.sessions.get(id)?.title}”?</h2><p>The conversation and those of its subagents are gone for good. The files stay as they are.</p></header>
    <footer><button type="button" class="danger" onclick=${gone}>Delete</button><${Close}>Cancel<//></footer>`
}

export const exportJson = guarded(async (id) => {
  const value = await get(`/tw/session/${id}/export`)
  download(`${id}.json`, "application/json", JSON.stringify(value, null, 1))
})

export const exportMarkdown = guarded(async (id) => {
  const messages = await get(`/session/${id}/message`)
  const fence = (text) => "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map((one) => one[0].length + 1)))
  const shown = (part) => {
    if (part.type === "text") return part.synthetic ? "" : part.text
    if (part.type !== "tool") return ""
    const { verb, subject } = part.shown
    const text = part.state.metadata?.diff || part.state.error || part.state.output || ""
    return `**${verb}** \`${subject}\`\n\n${fence(text)}${part.state.metadata?.diff ? "diff" : ""}\n${text}\n${fence(text)}`
  }
  const body = messages.map(
    (one) =>
      `## ${one.info.role === "user" ? "You" : one.info.agent || "Answer"}\n\n${one.parts.map(shown).filter(Boolean).join("\n\n")}`,
  )
  download(`${id}.md`, "text/markdown", `# ${state.sessions.get(id)?.title ?? ""}\n\n${body.join("\n\n")}\n`)
})

function Keys() {
  const keys = [
    ["Enter", "send"],
    ["Shift Enter", "a new line"],
    ["Esc", "stop the turn; leave a question for later"],
    ["↑ ↓", "earlier prompts, when the prompt is empty"],
    ["/ @ !", "commands, files and agents, a command of your own"],
    ["Ctrl K", "search sessions"],
    ["Alt N", "new session"],
    ["Alt ↑ Alt ↓", "the session above, the session below"],
    ["Alt Z", "undo the last turn"],
    ["Ctrl Enter", "in a permission: allow once"],
    ["?", "these keys"],
  ]
  return html`<header><h2>Keys</h2></header><dl class="keys">${keys.map(([key, what]) => [html`<dt><kbd>${key}</kbd></dt>`, html`<dd>${what}</dd>`])}</dl>
    <p><label><input type="checkbox" checked=${notifies()} onchange=${toggleNotifications} /> Notify me when the agent asks something or a turn is done</label></p>
    <footer><${Close} /></footer>`
}
