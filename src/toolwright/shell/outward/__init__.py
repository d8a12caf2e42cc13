"""Acts of commands beyond this machine: nothing, here, reads, changes something, or final. `data/` has the programs."""

from toolwright.shell.outward.behind import acts_behind as acts_behind
from toolwright.shell.outward.line import LineAct as LineAct
from toolwright.shell.outward.line import acts_by_text as acts_by_text
from toolwright.shell.outward.line import acts_of as acts_of
from toolwright.shell.outward.line import may_run_files as may_run_files
from toolwright.shell.outward.line import with_stricter as with_stricter
