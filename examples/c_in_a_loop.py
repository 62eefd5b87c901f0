"""Exported C in a real-time loop: inverse dynamics as C, called from a loop written in C, for a million states."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import linkwork

STEPS = 1_000_000
MAIN = """
#include <math.h>
#include <stdio.h>
#include <time.h>
#include "panda_inverse_dynamics.h"

int main(void)
{
    double q[7], v[7], a[7], tau[7];
    clock_t start = clock();
    for (int step = 1; step <= STEPS; step++) {
        double t = 1e-3 * step, s = sin(t), c = cos(t); /* every joint swings: q = 0.1 (k + 1) sin t */
        for (int k = 0; k < 7; k++) {
            q[k] = 0.1 * (k + 1) * s;
            v[k] = 0.1 * (k + 1) * c;
            a[k] = -q[k];
        }
        panda_inverse_dynamics(q, v, a, tau);
    }
    fprintf(stderr, "%.0f ns per step\\n", 1e9 * (double)(clock() - start) / CLOCKS_PER_SEC / STEPS);
    for (int k = 0; k < 7; k++)
        printf("%.17g ", tau[k]);
    return 0;
}
"""

robot = linkwork.load("panda")
with tempfile.TemporaryDirectory() as folder:
    files = robot.inverse_dynamics.to_c(folder)
    print("wrote", ", ".join(file.name for file in files))
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        print("no C compiler here: nothing to run")
    else:
        Path(folder, "main.c").write_text(MAIN)
        sources = ["main.c", "panda_inverse_dynamics.c"]
        command = [compiler, "-O2", f"-DSTEPS={STEPS}", *sources, "-o", "main", "-lm"]
        subprocess.run(command, cwd=folder, check=True)
        done = subprocess.run([Path(folder, "main")], capture_output=True, text=True, check=True)
        print(done.stderr.strip())

        t, size = 1e-3 * STEPS, 0.1 * np.arange(1, 8)
        expected = robot.inverse_dynamics(size * np.sin(t), size * np.cos(t), -size * np.sin(t))
        tau = np.array(done.stdout.split(), float)
        print("last torques", np.round(tau, 3))
        assert np.allclose(tau, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
