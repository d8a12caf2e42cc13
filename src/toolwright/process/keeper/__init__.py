"""The keeper: a small process of its own that starts programs for us and outlives none of them.

It runs with nothing but the standard library (`python -I -S`), so that it starts at once, stays small and can
fork safely however many threads its master has. The tree of processes:

    toolwright ── keeper ── leader (one for each scope) ── the program ── whatever it starts

Leaders and keeper are subreapers: a process cannot leave the tree by forking twice or by `setsid`, and a leader
without children is the kernel's own proof that its scope is empty. Each leader holds one end of a socket whose
other end only toolwright has; when that closes, because the scope is done with or because toolwright was
killed, the leader ends all below it. Should a leader be killed, its orphans fall to the keeper, which ends them.
"""
