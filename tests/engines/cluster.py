"""A cluster with two workers, on this machine alone. It prints its address, and ends with standard
input: however its parent ends, no process is left.
"""

import sys

from ray.cluster_utils import Cluster

HERE = {"node_ip_address": "127.0.0.1", "num_cpus": 1, "object_store_memory": 200 << 20}

if __name__ == "__main__":
    own = Cluster()
    try:
        own.add_node(**HERE, include_dashboard=False)
        own.add_node(**HERE)
        sys.stdout.write(f"{own.address}\n")
        sys.stdout.flush()
        sys.stdin.read()
    finally:
        own.shutdown()
