// Differences: unified text as rows with line numbers, in two columns where there is room, changed words marked.
import { html, useEffect, useRef, useState } from "./preact.js"

const WIDE = 680
const ROWS = 400
const WORDS = 600

export function rowsOf(text) {
  const rows = []
  let old = 0
  let fresh = 0
  let inside = false
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const place = line.match(/^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/)
    if (place) {
      old = Number(place[1])
      fresh = Number(place[2])
      inside = true
      rows.push({ kind: "place", text: `line ${fresh || 1}${place[3]}` })
    } else if (
      !inside &&
      /^(Index: |={10}|--- |\+\+\+ |diff |index |new file|deleted file|similarity|rename )/.test(line)
    )
      continue
    else if (line.startsWith("\\")) rows.push({ kind: "note", text: line.slice(2) })
    else if (line.startsWith("+")) rows.push({ kind: "added", fresh: fresh++, text: line.slice(1) })
    else if (line.startsWith("-")) rows.push({ kind: "removed", old: old++, text: line.slice(1) })
    else rows.push({ kind: "same", old: old++, fresh: fresh++, text: line.slice(1) })
  }
  return rows
}

export function countsOf(text) {
  const rows = rowsOf(text ?? "")
  return {
    additions: rows.filter((one) => one.kind === "added").length,
    deletions: rows.filter((one) => one.kind === "removed").length,
  }
}

// Removed lines beside the added ones that took their place.
function pairs(rows) {
  const paired = []
  for (let at = 0; at < rows.length;) {
    if (rows[at].kind === "removed" || rows[at].kind === "added") {
      const removed = []
      const added = []
      for (
        ;
        at < rows.length && (rows[at].kind === "removed" || rows[at].kind === "added" || rows[at].kind === "note");
        at++
      ) {
        if (rows[at].kind === "removed") removed.push(rows[at])
        else if (rows[at].kind === "added") added.push(rows[at])
      }
      for (let line = 0; line < Math.max(removed.length, added.length); line++) {
        const left = removed[line]
        const right = added[line]
        if (left && right) markWords(left, right)
        paired.push({ left, right })
      }
    } else paired.push({ left: rows[at], right: rows[at++] })
  }
  return paired
}

const words = (text) => text.match(/\w+|\s+|[^\w\s]/g) ?? []

// Marks what differs between two lines; what they begin and end with in common is plain.
function markWords(left, right) {
  if (left.text.length > WORDS || right.text.length > WORDS) return
  const one = words(left.text)
  const other = words(right.text)
  let head = 0
  while (head < one.length && head < other.length && one[head] === other[head]) head++
  let tail = 0
  while (
    tail < one.length - head &&
    tail < other.length - head &&
    one[one.length - 1 - tail] === other[other.length - 1 - tail]
  )
    tail++
  const solid = (list) => list.join("").trim().length
  if (!solid(one.slice(0, head)) && !solid(one.slice(one.length - tail))) return
  const cut = (list) => [
    list.slice(0, head).join(""),
    list.slice(head, list.length - tail).join(""),
    list.slice(list.length - tail).join(""),
  ]
  left.pieces = cut(one)
  right.pieces = cut(other)
}

function content(row) {
  if (!row.pieces) return row.text || " "
  const [head, middle, tail] = row.pieces
  return [head, middle ? html`<mark>${middle}</mark>` : null, tail]
}

const half = (row, side) =>
  row
    ? html`<td class="number">${side === "left" ? row.old : row.fresh}</td><td class=${`text ${row.kind}`}>${content(row)}</td>`
    : html`<td class="number"></td><td class="text none"></td>`

function Split({ rows }) {
  return pairs(rows).map(({ left, right }, at) =>
    left?.kind === "place" || left?.kind === "note"
      ? html`<tr key=${at} class=${left.kind}><td colspan="4">${left.text}</td></tr>`
      : html`<tr key=${at}>${half(left, "left")}${half(right, "right")}</tr>`,
  )
}

function Single({ rows }) {
  pairs(rows)
  return rows.map((row, at) =>
    row.kind === "place" || row.kind === "note"
      ? html`<tr key=${at} class=${row.kind}><td colspan="3">${row.text}</td></tr>`
      : html`<tr key=${at}><td class="number">${row.old}</td><td class="number">${row.fresh}</td><td class=${`text ${row.kind}`}>${content(row)}</td></tr>`,
  )
}

export function Diff({ text }) {
  const box = useRef()
  const [wide, setWide] = useState(false)
  const [all, setAll] = useState(false)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWide(entry.contentRect.width >= WIDE))
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  const rows = rowsOf(text)
  const shown = all ? rows : rows.slice(0, ROWS)
  const both = shown.some((one) => one.kind === "removed") && shown.some((one) => one.kind === "added")
  return html`<div class="diff" ref=${box} tabindex="0" role="group" aria-label="Difference">
    <table class=${wide && both ? "split" : "single"}>${wide && both ? html`<colgroup><col class="number" /><col /><col class="number" /><col /></colgroup>` : null}<tbody><${wide && both ? Split : Single} rows=${shown} /></tbody></table>
    ${rows.length > shown.length ? html`<button type="button" class="ghost" onclick=${() => setAll(true)}>Show all ${rows.length.toLocaleString("en")} lines</button>` : null}
  </div>`
}
