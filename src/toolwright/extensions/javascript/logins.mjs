// The hooks `auth` and `provider` of plugins: ways to log in, requests of a provider sent by a plugin's own fetch, models.

const pending = new Map(), senders = new Map(), streams = new Map(), records = new Map()
let number = 0

/** What logins and models a plugin brings, for the program to remember. */
export function loginsIn(hooks) {
  return hooks.filter((one) => one.auth?.provider).map(({ auth }) => ({
    provider: auth.provider,
    loads: typeof auth.loader === "function",
    methods: (auth.methods ?? []).map((one) => ({ type: one.type, label: String(one.label), authorizes: Boolean(one.authorize) })),
  }))
}

export const providersIn = (hooks) => hooks.filter((one) => one.provider?.id && one.provider.models).map((one) => one.provider.id)

/** What is stored of a login by now, also where a plugin has just renewed it. */
export const remember = (provider, record) => records.set(provider, record)

export const methodsFor = (plugins) => {
  const authOf = (file, provider) => plugins.get(file).hooks.find((one) => one.auth?.provider === provider)?.auth
  const wayOf = ({ path, provider, method }) => authOf(path, provider).methods[method]

  return {
    // What has still to be asked, going by what was answered so far.
    async loginPrompts({ inputs, ...asked }) {
      const open = (wayOf(asked).prompts ?? []).filter((one) => !(one.key in inputs) && isWanted(one, inputs))
      return open.map(({ type, key, message, placeholder, options }) => ({ type, key, message, placeholder, options }))
    },

    async loginBegin({ inputs, ...asked }) {
      const way = wayOf(asked)
      for (const one of way.prompts ?? []) {
        const wrong = one.key in inputs ? one.validate?.(inputs[one.key]) : undefined
        if (wrong) throw new Error(`${one.key}: ${wrong}`)
      }
      const begun = await way.authorize(inputs)
      if (way.type === "api") return { record: recordOf(begun) }
      pending.set(asked.provider, begun)
      return { url: begun.url, instructions: begun.instructions, method: begun.method }
    },

    async loginEnd({ provider, code }) {
      const begun = pending.get(provider)
      if (!begun) throw new Error("No login was begun.")
      const record = recordOf(await (begun.method === "code" ? begun.callback(code) : begun.callback()))
      pending.delete(provider)
      return { record }
    },

    async loginLoad({ path, provider, info, record }) {
      records.set(provider, record)
      const options = (await authOf(path, provider).loader(async () => records.get(provider), info)) ?? {}
      if (typeof options.fetch === "function") senders.set(provider, options.fetch)
      else senders.delete(provider)
      const { apiKey, baseURL, headers } = options
      return { apiKey, baseURL, headers, sends: senders.has(provider) }
    },

    async loginSend({ provider, url, headers, body, record }, signal) {
      records.set(provider, record)
      const answer = await sent(senders.get(provider), url, { method: "POST", headers, body, signal })
      const id = ++number
      if (answer.body) streams.set(id, answer.body.getReader())
      return { id, status: answer.status, headers: Object.fromEntries(answer.headers) }
    },

    // The next piece of an answer; null when all of it has come.
    async loginRead({ id }) {
      const { value, done } = (await streams.get(id)?.read()) ?? { done: true }
      if (done) streams.delete(id)
      return { data: done ? null : Buffer.from(value).toString("base64") }
    },

    async loginDrop({ id }) {
      await streams.get(id)?.cancel()
      streams.delete(id)
    },

    async models({ path, provider, info, record }) {
      const hook = plugins.get(path).hooks.find((one) => one.provider?.id === provider).provider
      return { models: await hook.models(info, record ? { auth: record } : {}) }
    },
  }
}

async function sent(send, url, request) {
  try {
    return await send(url, request)
  } catch (error) {
    // What has a code was said by the network or the machine, anything else by the plugin.
    throw Object.assign(new Error(error?.message ?? String(error)), { data: { kind: error?.code ?? error?.cause?.code ? "network" : "denied" } })
  }
}

function isWanted({ when, condition }, inputs) {
  if (when) return when.op === "eq" ? inputs[when.key] === when.value : inputs[when.key] !== when.value
  return condition ? condition(inputs) : true
}

function recordOf(result) {
  if (result?.type !== "success") throw new Error("The login has failed.")
  const { type, provider, ...rest } = result
  return { provider, ...rest, type: "key" in rest ? "api" : "oauth" }
}
