// Small things that the whole page uses: dialogs, icons, numbers and times in words.
import { Component, html, options, useEffect, useRef } from "./preact.js"

const PATHS = {
  menu: "M3 6h18M3 12h18M3 18h18",
  more: "M4.6 12h.8M11.6 12h.8M18.6 12h.8",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  back: "M15 5l-7 7 7 7",
  undo: "M8 5L4 9l4 4M4 9h10a6 6 0 010 12h-3",
  fork: "M7 4v10a4 4 0 004 4h6M17 15l3 3-3 3M7 4l-3 3M7 4l3 3",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  panel: "M4 5h16v14H4zM15 5v14",
  check: "M5 12l5 5L20 7",
  send: "M12 20V5M5 12l7-7 7 7",
  stop: "M7 7h10v10H7z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
}

export const icon = (name) =>
  html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name]} /></svg>`

export class Memo extends Component {
  // Drawn anew only when what it is given is another thing.
  shouldComponentUpdate(next) {
    const names = new Set([...Object.keys(next), ...Object.keys(this.props)])
    return [...names].some((name) => next[name] !== this.props[name])
  }
}

// Milliseconds without a key before a question takes an answer: whoever is typing or clicking when it appears has not read it.
const UNREAD = 400

export function Dialog({ label, onclose, onkeydown, onearly, wide, said, children }) {
  const box = useRef()
  useEffect(() => {
    const dialog = box.current
    dialog.showModal()
    // No button has the focus: what was being typed must not answer.
    dialog.focus()
    const forget = onearly ? keepUnread(dialog, onearly) : null
    return () => {
      forget?.()
      dialog.close()
    }
  }, [])
  const cancel = (event) => {
    event.preventDefault()
    onclose?.()
  }
  const outside = (event) => event.target === box.current && onclose?.()
  return html`<dialog ref=${box} tabindex="-1" class=${wide ? "wide" : ""} aria-label=${label} oncancel=${cancel} onmousedown=${outside} onkeydown=${onkeydown}>
    <div class="inside">${said ? html`<p class="error" role="alert">${said}</p>` : null}${children}</div>
  </dialog>`
}

function keepUnread(dialog, onearly) {
  let timer
  let since = Infinity
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      since = performance.now()
      delete dialog.dataset.unread
    }, UNREAD)
  }
  const early = (event) => {
    if (event.timeStamp >= since || event.key === "Escape") return
    event.stopImmediatePropagation()
    event.preventDefault()
    if (since === Infinity) wait()
    if (event.type === "keydown" && event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey)
      onearly(event.key)
  }
  dialog.dataset.unread = ""
  for (const type of ["keydown", "click", "mousedown"]) dialog.addEventListener(type, early, true)
  // Not before it has been drawn.
  requestAnimationFrame(() => requestAnimationFrame(wait))
  return () => clearTimeout(timer)
}

// Shows hidden characters by their number, such as those that turn the direction of a text.
// Emoji are written with some of them (a joiner, a choice of colour), and may be.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\u{13430}-\u{1345f}\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|(?<![\u2190-\u2bff\ufe0f\u{1f000}-\u{1faff}])\u200d|\u200d(?![\u2190-\u2bff\u{1f000}-\u{1faff}])|(?<![#*0-9\u00a9\u00ae\u2000-\u3299\u{1f000}-\u{1faff}])[\ufe0e\ufe0f]/gu
export const visible = (text) =>
  String(text).replace(HIDDEN, (one) => `‹U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`)

// Every text on its way into the document, and every attribute that is shown or read out, passes here: nobody who draws
// something has to think of it. An object that a stranger sent in the place of a text is no element.
const SHOWN = ["title", "alt", "label", "placeholder", "aria-label"]
const ours = new WeakSet()
const shown = (child) =>
  Array.isArray(child) ? child.map(shown) : child instanceof Object && !ours.has(child) ? String(child) : child
options.vnode = (node) => {
  ours.add(node)
  if (node.type === null) node.props = visible(node.props)
  if (typeof node.type !== "string") return
  for (const name of SHOWN) if (typeof node.props[name] === "string") node.props[name] = visible(node.props[name])
  if ("children" in node.props) node.props.children = shown(node.props.children)
}

export const count = (number) =>
  number >= 1e6
    ? `${(number / 1e6).toFixed(1)}M`
    : number >= 1e4
      ? `${Math.round(number / 1e3)}k`
      : number.toLocaleString("en")
export const money = (dollars) =>
  dollars >= 1
    ? `$${dollars.toFixed(2)}`
    : dollars >= 0.01
      ? `$${dollars.toFixed(3)}`
      : dollars > 0
        ? `$${dollars.toFixed(4)}`
        : "$0"
export const plural = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`
export const nameOf = (path) => path.split("/").filter(Boolean).at(-1) ?? path

export function ago(time) {
  const seconds = Math.max(0, (Date.now() - time) / 1000)
  if (seconds < 60) return "now"
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`
  if (seconds < 86400) return `${Math.round(seconds / 3600)} h`
  if (seconds < 86400 * 14) return `${Math.round(seconds / 86400)} d`
  return new Date(time).toLocaleDateString()
}

export function lasted(from, to) {
  const seconds = (to - from) / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 90) return `${Math.round(seconds)} s`
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

export function download(name, type, text) {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}
