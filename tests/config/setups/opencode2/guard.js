export const Guard = async (input, options) => ({
  "tool.execute.before": async ({ tool }, output) => {
    if (options.strict && tool === "bash") throw new Error("the guard says no")
  },
})
