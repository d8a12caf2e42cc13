"""The files of the recorded rows of custom tools, in Python."""

HEAD = """
import json

NESTED = {"type": "object", "required": ["k"],
    "properties": {"k": {"type": "array", "items": {"type": "string"}}}}

def made(action, **args):
    return {"description": "d", "args": args, "execute": action}

def says(text):
    return made(lambda args, ctx: text)

def shows(**args):
    return made(lambda args, ctx: json.dumps(args, separators=(",", ":")), **args)

def fails(error):
    def action(args, ctx):
        raise error
    return made(action)
"""
TOLD = """
kinds = {str: "string", bool: "false"}

def told(args, ctx):
    values = [kinds[type(one)] for one in (ctx.session_id, ctx.message_id, ctx.abort.aborted)]
    calls = ["function" for one in (ctx.ask, ctx.metadata) if callable(one)]
    return ",".join([*values[:2], ctx.agent, values[2], *calls])

default = made(told)
"""
LAUNCH = """
async def launch(args, ctx):
    await ctx.ask({"permission": "launch", "patterns": ["x", "y"], "always": ["x*"], "metadata": {"why": 1}})
    return "went"

default = made(launch)
"""
TWINS: dict[str, list[str]] = {
    "custom-0001": ["default = says('hi')"],
    "custom-0003": ["default = says('add')\nmul = says('mul')"],
    "custom-0005": ["default = says('p')"],
    "custom-0006": ["default = says('from tool')", "default = says('from tools')"],
    "custom-0007": ["default = says('x')"],
    "custom-0009": ["default = says('h')", "default = says('v')"],
    "custom-0010": ["default = says('x')"],
    "custom-0012": ["default = says('x')"],
    "custom-0013": ["default = fails(RuntimeError('no token'))"],
    "custom-0014": ["default = fails(Exception('plain words'))"],
    "custom-0015": ["async def late(args, ctx):\n    raise TypeError('late')\ndefault = made(late)"],
    "custom-0017": ["default = says('')"],
    "custom-0020": ["default = says(['a', 'b'])"],
    "custom-0022": ["default = says(None)"],
    "custom-0023": ["default = says(True)"],
    "custom-0025": ["default = says('a\\nb\\nc')"],
    "custom-0027": ["default = shows(q={'type': 'string'})"],
    "custom-0028": ["default = shows(n={'type': 'number', 'default': 10})"],
    "custom-0031": ["default = shows(e={'enum': ['a', 'b']})"],
    "custom-0032": ["default = shows(o=NESTED)"],
    "custom-0034": ["default = shows(n={'type': 'number', 'minimum': 1, 'maximum': 5})"],
    "custom-0036": ["default = shows(q={'type': 'string', 'description': 'what to look for'})"],
    "custom-0038": [TOLD],
    "custom-0040": [LAUNCH],
    "custom-0044": ["default = says('hi')"],
    "custom-0045": ["default = says('hi')"],
    "custom-0047": ["open = says('o')\nshut = says('s')"],
    "custom-0049": ["from lib.w import word\ndefault = says(word)", "word = 'shared'"],
}
"""The files of the rows in Python, in their order. Left out are those about TypeScript and buffers."""
