"""Where keys and values lie: pages as the engine's allocator hands them out, pools to rotate over, a cell laid out in one."""
